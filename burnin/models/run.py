"""One test on one set of nodes, and every Slurm job that carried it."""

from __future__ import annotations

import uuid

from django.db import models
from django.db.models import Q

from burnin.models.job import Job
from burnin.states import Cause, RunState, Verdict
from fleet.models import Node, Site
from runner.contract.wire import AttemptToken


def choices_of(values: type[RunState] | type[Verdict] | type[Cause]) -> list[tuple[str, str]]:
    return [(each.value, each.value or "none") for each in values]


class TestRun(models.Model):
    """One test on its nodes. `state` says whether it ran, `verdict` whether the hardware passed."""

    __test__ = False

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="runs")
    site = models.ForeignKey(Site, on_delete=models.PROTECT, related_name="runs")
    stage = models.PositiveSmallIntegerField()
    step = models.PositiveSmallIntegerField(help_text="Position in the job's frozen steps.")
    slug = models.CharField(max_length=63)
    state = models.CharField(max_length=10, choices=choices_of(RunState), default=RunState.PLANNED)
    verdict = models.CharField(max_length=12, choices=choices_of(Verdict), blank=True, default="")
    cause = models.CharField(max_length=14, choices=choices_of(Cause), blank=True, default="")
    reason = models.CharField(max_length=2000, blank=True)
    waits_because = models.CharField(max_length=500, blank=True)
    attempt_number = models.PositiveSmallIntegerField(default=0, help_text="0: none yet.")
    rerun_of = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True)
    cancel_reason = models.CharField(max_length=1000, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    moved_at = models.DateTimeField(auto_now_add=True, help_text="When `state` last changed.")
    carried_until = models.DateTimeField(
        null=True, blank=True, help_text="A worker has claimed it until then."
    )

    class Meta:
        ordering = ("created_at",)
        indexes = (
            models.Index(fields=("site", "state", "created_at")),
            models.Index(fields=("job", "stage", "state")),
        )
        constraints = (
            models.CheckConstraint(
                condition=(Q(state=RunState.JUDGED.value) & ~Q(verdict=""))
                | (~Q(state=RunState.JUDGED.value) & Q(verdict="")),
                name="burnin_a_run_has_a_verdict_if_and_only_if_judged",
            ),
            models.CheckConstraint(
                condition=Q(state__in=[RunState.PLANNED.value, RunState.JUDGED.value])
                | Q(attempt_number__gte=1),
                name="burnin_a_dispatched_run_has_an_attempt",
            ),
        )

    def __str__(self) -> str:
        return f"{self.slug} {str(self.id)[:8]}"


class RunNode(models.Model):
    """A node that a run is on, in the order of its node list."""

    run = models.ForeignKey(TestRun, on_delete=models.CASCADE, related_name="members")
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="run_memberships")
    position = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("run", "position")
        constraints = (
            models.UniqueConstraint(fields=("run", "node"), name="burnin_node_once_per_run"),
        )

    def __str__(self) -> str:
        return f"{self.node} in {self.run_id}"


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

    class Meta:
        ordering = ("run", "number")
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
