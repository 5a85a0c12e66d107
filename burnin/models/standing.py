"""Where each node stands: may it take customers, and if not, why. What pages read."""

from __future__ import annotations

from django.db import models

from fleet.models import Node


class NodeState(models.TextChoices):
    """By what is shown of the node. Whether something runs on it now is another matter."""

    ACCEPTED = "accepted", "every required test has passed, and it still counts"
    FAILING = "failing", "a test failed, and nothing was done about it since"
    SUSPECT = "suspect", "it vanished or hung under a test, or its group failed"
    UNTESTED = "untested", "a required test has not come to a conclusion as its class must pass it"
    STALE = "stale", "what was shown no longer counts"
    SKIPPED = "skipped", "excluded"


class NodeStanding(models.Model):
    """Written in the transaction that changes its ground (`weighing.py`). No row: untested.

    After `weigh_at` an acceptance no longer holds, nor where evidence may not grow as old as it was
    weighed for: readers do not believe it, the sweep weighs it.
    """

    node = models.OneToOneField(
        Node, on_delete=models.CASCADE, primary_key=True, related_name="standing"
    )
    state = models.CharField(max_length=10, choices=NodeState.choices)
    reason = models.CharField(max_length=1000)
    since = models.DateTimeField()
    required = models.PositiveSmallIntegerField(help_text="Tests that its class must pass.")
    passed = models.PositiveSmallIntegerField(help_text="How many of them pass and count.")
    weigh_at = models.DateTimeField(null=True, blank=True, help_text="When the next one expires.")
    lives_for_days = models.PositiveIntegerField(
        null=True, blank=True, help_text="How old its evidence may be. None: not known."
    )

    class Meta:
        ordering = ("node",)
        indexes = (models.Index(fields=("weigh_at",), name="burnin_standings_due"),)

    def __str__(self) -> str:
        return f"{self.node} is {self.state}"
