"""How long a job may still take, from what its tests took so far. Nothing known, nothing said."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from burnin.models import Job, JobCount, Preset, StepTime
from burnin.states import AT_WORK, VERDICTS

TIMES_LOOKED_AT = 50


def ends_at(jobs: Sequence[Job], now: datetime) -> Mapping[uuid.UUID, datetime]:
    """Return when each job may be done, for those of which enough is known, in two queries.

    What is left takes as long as runs of its stage took on average, as many at once as run now.
    """
    ids = [job.pk for job in jobs if job.state != "done"]
    means = _means_by_stage(ids)
    left: dict[uuid.UUID, dict[int, int]] = {}
    at_work: dict[uuid.UUID, int] = {}
    rows = JobCount.objects.filter(job__in=ids).values_list("job_id", "stage", "key", "count")
    for job_id, stage, key, count in rows:
        if key in VERDICTS or not count:
            continue
        stages = left.setdefault(job_id, {})
        stages[stage] = stages.get(stage, 0) + count
        at_work[job_id] = at_work.get(job_id, 0) + count * (key in AT_WORK)
    found = {}
    for job_id, stages in left.items():
        seconds = _seconds(stages, means.get(job_id, {}))
        if seconds is not None and at_work[job_id]:
            found[job_id] = now + timedelta(seconds=seconds / at_work[job_id])
    return found


def expected_node_seconds(preset: Preset) -> float | None:
    """Return how long the preset keeps one node, by the newest job that measured all its steps."""
    steps = list(preset.steps.order_by("position").values_list("position", "slug"))
    times = StepTime.objects.filter(job__preset=preset, runs__gt=0).order_by("-job__created_at")
    by_job: dict[uuid.UUID, dict[tuple[int, str], float]] = {}
    for each in times[: TIMES_LOOKED_AT * max(1, len(steps))]:
        by_job.setdefault(each.job_id, {})[each.step, each.slug] = each.seconds / each.runs
    for found in by_job.values():
        if steps and all(step in found for step in steps):
            return sum(found[step] for step in steps)
    return None


def _means_by_stage(job_ids: Iterable[uuid.UUID]) -> Mapping[uuid.UUID, Mapping[int, float]]:
    sums: dict[uuid.UUID, dict[int, tuple[int, int]]] = {}
    for each in StepTime.objects.filter(job__in=job_ids, runs__gt=0):
        stages = sums.setdefault(each.job_id, {})
        runs, seconds = stages.get(each.stage, (0, 0))
        stages[each.stage] = runs + each.runs, seconds + each.seconds
    return {
        job_id: {stage: seconds / runs for stage, (runs, seconds) in stages.items()}
        for job_id, stages in sums.items()
    }


def _seconds(left: Mapping[int, int], means: Mapping[int, float]) -> float | None:
    """Return the work that is left, in seconds of runs; None if a stage was never measured."""
    if any(stage not in means for stage in left):
        return None
    return sum(count * means[stage] for stage, count in left.items())
