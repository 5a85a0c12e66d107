"""How long a test took in a job: what estimates are made from, so that nobody searches history."""

from __future__ import annotations

import uuid
from collections.abc import Mapping

from django.db import models

from burnin.models.job import Job
from burnin.models.set_sql import Change, SetWriter

StepKey = tuple[uuid.UUID, int, int, str]  # job, stage, position of the step, slug


class StepTimeManager(models.Manager["StepTime"]):
    """Sums that change with the verdicts."""

    def add(self, deltas: Mapping[StepKey, tuple[int, int]]) -> None:
        """Add runs and seconds to each step. Call it in the transaction that judges them."""
        rows = [
            {"job_id": job, "stage": stage, "step": step, "slug": slug, "runs": runs, "seconds": s}
            for (job, stage, step, slug), (runs, s) in sorted(deltas.items())
        ]
        writer = SetWriter(self.model, self.db)
        missing = [{**row, "runs": 0, "seconds": 0} for row in rows]
        writer.insert(missing, end="ON CONFLICT DO NOTHING")
        writer.update(rows, Change(match=("job_id", "step"), added=("runs", "seconds")))


class StepTime(models.Model):
    """How many runs of one step of a job were measured, and how long they took in all."""

    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="step_times")
    stage = models.PositiveSmallIntegerField()
    step = models.PositiveSmallIntegerField(help_text="Position in the job's frozen steps.")
    slug = models.CharField(max_length=63)
    runs = models.PositiveIntegerField(default=0)
    seconds = models.PositiveBigIntegerField(default=0)

    objects = StepTimeManager()

    class Meta:
        ordering = ("job", "step")
        indexes = (models.Index(fields=("slug", "-id"), name="burnin_times_of_a_test"),)
        constraints = (
            models.UniqueConstraint(fields=("job", "step"), name="burnin_step_time_is_unique"),
        )

    def __str__(self) -> str:
        return f"{self.slug}: {self.runs} runs in {self.seconds} s"

    @property
    def mean_s(self) -> float | None:
        """Seconds that a run took on average; None until one was measured."""
        return self.seconds / self.runs if self.runs else None
