"""Rows that say what their run was asked to do."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any
from uuid import UUID

from django.db import models

from burnin.hardware_tests.workload import DIGEST_LENGTH, Workload
from burnin.models.job import Job
from burnin.models.run import TestRun

_ALONE = "single-node."


class OfWorkload(models.Model):
    """What the run was asked to do. An empty digest: nobody knows, so it stands for nothing."""

    params = models.JSONField(default=dict, blank=True, help_text="As the node was told them.")
    iterations = models.PositiveSmallIntegerField(default=0)
    digest = models.CharField(
        max_length=DIGEST_LENGTH, blank=True, default="", help_text="Of params and iterations."
    )

    class Meta:
        abstract = True

    @property
    def workload(self) -> Workload | None:
        slug: str = self.slug  # type: ignore[attr-defined]
        return Workload(slug, self.params, self.iterations) if self.digest else None


def columns_of(workload: Workload | None) -> dict[str, Any]:
    """Return the values of the three columns."""
    if workload is None:
        return {"params": {}, "iterations": 0, "digest": ""}
    return {
        "params": dict(workload.params),
        "iterations": workload.iterations,
        "digest": workload.digest,
    }


def workloads_of(
    runs: Collection[TestRun], classes: Mapping[UUID, Collection[str]]
) -> dict[UUID, Workload | None]:
    """Return what each run's job froze for it, in one query. `classes` are its nodes'.

    None where the job froze no such step, and for one node of a test of many.
    """
    jobs = Job.objects.filter(pk__in={run.job_id for run in runs})
    steps = {
        (job_id, step["position"]): step
        for job_id, kept in jobs.values_list("pk", "steps")
        for step in kept
    }
    return {
        run.pk: _frozen(run, steps.get((run.job_id, run.step)), classes.get(run.pk, ()))
        for run in runs
    }


def _frozen(
    run: TestRun, step: Mapping[str, Any] | None, classes: Collection[str]
) -> Workload | None:
    least_nodes = 1 if run.slug.startswith(_ALONE) else 2
    if step is None or step["slug"] != run.slug or len(classes) < least_nodes:
        return None
    params = step.get("params_on", {}).get(next(iter(classes)), step["params"])
    return Workload(run.slug, params, step["iterations"])
