"""One operator request: a preset on a set of nodes."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import models
from django.db.models import Q

from burnin.models.preset import Preset
from burnin.models.set_sql import Change, SetWriter
from burnin.models.severity import OF_VERDICT, Severity
from fleet.models import Node, Site


class JobState(models.TextChoices):
    """Where a request stands. Its verdict is another matter: see `Job.verdict`."""

    ACTIVE = "active"
    CANCELLING = "cancelling"
    DONE = "done"


class JobVerdict(models.TextChoices):
    NONE = "", "not yet"
    PASSED = "passed"
    FAILED = "failed"
    INCOMPLETE = "incomplete"


class Job(models.Model):
    """A request and the preset as it was then: `steps` holds params, thresholds, fingerprints."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    site = models.ForeignKey(Site, on_delete=models.PROTECT, related_name="jobs")
    preset = models.ForeignKey(
        Preset,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="jobs",
        help_text="None: one test, asked for by its author.",
    )
    steps = models.JSONField()
    state = models.CharField(max_length=10, choices=JobState.choices, default=JobState.ACTIVE)
    verdict = models.CharField(max_length=10, choices=JobVerdict.choices, default="", blank=True)
    stage = models.PositiveSmallIntegerField(default=1, help_text="The stage that is open.")
    node_count = models.PositiveIntegerField()
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True
    )
    idempotency_key = models.CharField(max_length=200, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True, blank=True)
    cancel_reason = models.CharField(max_length=1000, blank=True)

    class Meta:
        ordering = ("-created_at",)
        indexes = (models.Index(fields=("site", "state")),)
        constraints = (
            models.UniqueConstraint(
                fields=("requested_by", "idempotency_key"),
                condition=~Q(idempotency_key=""),
                name="burnin_idempotency_key_is_unique",
            ),
            models.CheckConstraint(
                condition=Q(state="done", finished_at__isnull=False)
                | (~Q(state="done") & Q(finished_at__isnull=True, verdict="")),
                name="burnin_done_job_has_an_end_and_others_no_verdict",
            ),
            models.CheckConstraint(
                condition=~Q(state="cancelling") | ~Q(cancel_reason=""),
                name="burnin_cancelling_job_says_why",
            ),
        )

    def __str__(self) -> str:
        return f"{self.preset or 'one test'} at {self.site}, {self.id}"


NodeKey = tuple[uuid.UUID, int]  # job, node


@dataclass(frozen=True)
class Found:
    """What runs of a job found on a node. `worst` is a deviation, None without one."""

    severity: int
    worst: float | None


class JobNodeManager(models.Manager["JobNode"]):
    """Nodes of jobs, with what changes with their runs. Call each in the transaction of that."""

    def expect(self, runs: Mapping[NodeKey, int]) -> None:
        """Count runs that are planned now."""
        rows = [
            {"job_id": job, "node_id": node, "open_runs": count}
            for (job, node), count in sorted(runs.items())
        ]
        self._update(rows, Change(match=_NODE_KEY, added=("open_runs",)))

    def settle(self, verdicts: Iterable[tuple[uuid.UUID, int, str]]) -> None:
        """Take in the verdicts of runs that are judged now: job, node and verdict of each."""
        judged: dict[NodeKey, list[int]] = {}
        for job, node, verdict in verdicts:
            judged.setdefault((job, node), []).append(OF_VERDICT[verdict])
        rows = [
            {"job_id": job, "node_id": node, "open_runs": -len(each), "severity": max(each)}
            for (job, node), each in sorted(judged.items())
        ]
        self._update(rows, Change(match=_NODE_KEY, added=("open_runs",), highest=("severity",)))

    def worsen(self, found: Mapping[NodeKey, Found]) -> None:
        """Take in how far measurements are from their bounds."""
        rows = [
            {"job_id": job, "node_id": node, "severity": each.severity, "worst": each.worst}
            for (job, node), each in sorted(found.items())
        ]
        self._update(rows, Change(match=_NODE_KEY, highest=("severity",), lowest=("worst",)))

    def _update(self, rows: list[dict[str, Any]], change: Change) -> None:
        SetWriter(self.model, self.db).update(rows, change)


_NODE_KEY = ("job_id", "node_id")


class JobNode(models.Model):
    """A node the operator asked for. It stays listed whatever becomes of it.

    `severity` and `worst` say what is worst of what was found, `open_runs` how much is to come.
    """

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="members")
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="memberships")
    left_because = models.CharField(
        max_length=1000, blank=True, help_text="Not empty: it takes no part in later stages."
    )
    open_runs = models.PositiveIntegerField(default=0, help_text="Runs that are not judged yet.")
    severity = models.PositiveSmallIntegerField(choices=Severity.choices, default=Severity.NONE)
    worst = models.FloatField(
        null=True, blank=True, help_text="Worst margin to a bound, relative to it; below 0: failed."
    )

    objects = JobNodeManager()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("job", "node"), name="burnin_node_once_per_job"),
        )
        indexes = (
            models.Index(
                fields=("job", "-severity", "worst", "node"), name="burnin_worst_nodes_of_a_job"
            ),
        )

    def __str__(self) -> str:
        return f"{self.node} in {self.job_id}"


CountKey = tuple[uuid.UUID, int, str]  # job, stage, and a run state or the verdict of judged ones


class JobCountManager(models.Manager["JobCount"]):
    """Counters that change with the runs."""

    def add(self, deltas: Mapping[CountKey, int]) -> None:
        """Add to each counter. Call it in the transaction that moves the runs.

        Raises IntegrityError if more leave a place than were counted there: nothing moves then.
        """
        rows = [
            {"job_id": job, "stage": stage, "key": key, "count": delta}
            for (job, stage, key), delta in sorted(deltas.items())
            if delta
        ]
        writer = SetWriter(self.model, self.db)
        missing = [{**row, "count": 0} for row in rows]
        writer.insert(missing, end="ON CONFLICT DO NOTHING")
        writer.update(rows, Change(match=("job_id", "stage", "key"), added=("count",)))


class JobCount(models.Model):
    """How many runs of a job stand at `key`: a run state, or the verdict of judged ones.

    Changed in the transaction that moves the runs, so pages never count.
    """

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="counts")
    stage = models.PositiveSmallIntegerField()
    key = models.CharField(max_length=20)
    count = models.PositiveIntegerField(default=0)

    objects = JobCountManager()

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("job", "stage", "key"), name="burnin_count_is_unique"),
        )

    def __str__(self) -> str:
        return f"{self.count} {self.key}"
