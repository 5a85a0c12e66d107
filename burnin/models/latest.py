"""The newest conclusive result of every test on every node: what pages read."""

from django.db import models

from burnin.models.result import TestResult
from fleet.models import Node


class LatestResult(models.Model):
    """Replaced in the transaction that writes a newer result, so nobody searches history."""

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="latest_results")
    slug = models.CharField(max_length=63)
    result = models.ForeignKey(TestResult, on_delete=models.CASCADE)
    verdict = models.CharField(max_length=12)
    started_at = models.DateTimeField(help_text="Of the run: an operation after it stales it.")
    judged_at = models.DateTimeField()

    class Meta:
        ordering = ("node", "slug")
        constraints = (
            models.UniqueConstraint(fields=("node", "slug"), name="burnin_one_latest_per_test"),
        )

    def __str__(self) -> str:
        return f"{self.slug} on {self.node}: {self.verdict}"
