"""One Slurm job of a run, and what became of it."""

from __future__ import annotations

from django.db import models
from django.db.models import Q

from burnin.models.run import TestRun
from runner.contract.wire import AttemptToken


class Attempt(models.Model):
    """One Slurm job of a run: its script, its bundle, and what Slurm said of it.

    Submission is "asked" until the satellite answers; only an accepted one has a Slurm job id.
    """

    class Submission(models.TextChoices):
        ASKED = "asked"
        ACCEPTED = "accepted"
        REFUSED = "refused"
        UNKNOWN = "unknown"

    run = models.ForeignKey(TestRun, on_delete=models.CASCADE, related_name="attempts")
    number = models.PositiveSmallIntegerField()
    submission = models.CharField(
        max_length=10, choices=Submission.choices, default=Submission.ASKED
    )
    script = models.TextField()
    context = models.JSONField(help_text="What the node was told, without any URL.")
    bundle_sha256 = models.CharField(max_length=64)
    slurm_job_id = models.CharField(max_length=32, blank=True)
    slurm_state = models.CharField(max_length=63, blank=True)
    slurm_reason = models.CharField(max_length=1000, blank=True)
    node_list = models.CharField(max_length=4000, blank=True)
    exit_code = models.CharField(max_length=15, blank=True)
    derived_exit_code = models.CharField(max_length=15, blank=True)
    asked_at = models.DateTimeField()
    uploads_expire_at = models.DateTimeField()
    submitted_at = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    observed_at = models.DateTimeField(null=True, blank=True)
    relay_asked_at = models.DateTimeField(
        null=True, blank=True, help_text="When the satellite was asked for late artifacts."
    )
    relayed_at = models.DateTimeField(
        null=True, blank=True, help_text="When it said that it has uploaded all there is."
    )
    relay_words = models.CharField(max_length=1000, blank=True)
    log_asked_at = models.DateTimeField(
        null=True, blank=True, help_text="When the site was last asked for new bytes of a log."
    )
    worker_ends = models.PositiveSmallIntegerField(
        default=0, help_text="Workers that came to an end while they judged it."
    )

    class Meta:
        ordering = ("run", "number")
        indexes = (
            models.Index(
                fields=("observed_at",),
                condition=Q(ended_at=None) & ~Q(slurm_job_id=""),
                name="burnin_live_attempts",
            ),
        )
        constraints = (
            models.UniqueConstraint(fields=("run", "number"), name="burnin_attempt_is_unique"),
            models.CheckConstraint(
                condition=(Q(submission="accepted") & ~Q(slurm_job_id=""))
                | (~Q(submission="accepted") & Q(slurm_job_id="")),
                name="burnin_a_submitted_attempt_has_a_slurm_job_id",
            ),
        )

    def __str__(self) -> str:
        return self.token.comment

    @property
    def token(self) -> AttemptToken:
        return AttemptToken(str(self.run_id), self.number)
