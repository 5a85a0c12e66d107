"""From one stage of a job to the next: who may go on, what opens, and what it all adds up to."""

import uuid
from collections.abc import Mapping
from datetime import datetime

from django.db.models import QuerySet, Sum

from burnin.models import Job, JobCount, JobNode, RunNode, TestRun
from burnin.models.job import JobState, JobVerdict
from burnin.models.set_sql import Change, SetWriter
from burnin.models.text import storable
from burnin.states import Cause, RunState, Verdict
from burnin.workflow import cohorts
from burnin.workflow.sites import alone_at
from burnin.workflow.steps import UnreadableStep, steps_of
from fleet.models import Site

UNJUDGED = [each.value for each in RunState if each is not RunState.JUDGED]


def advance_site(site: Site, now: datetime) -> int:
    """Open the next stage of every job whose open one is judged; return how many moved on."""
    with alone_at(site):
        jobs = list(Job.objects.filter(site=site).exclude(state=JobState.DONE))
        return sum(advance(job, now) for job in jobs)


def advance(job: Job, now: datetime) -> bool:
    """Open the job's next stage, or end it, if every run of the open one is judged.

    Call it alone at the job's site. A stage whose runs are all judged already is passed over.
    """
    moved = False
    while job.state != JobState.DONE and not _is_under_way(job):
        moved = True
        _dismiss(job, _barred(job), now)
        later = sorted({each["stage"] for each in job.steps if each["stage"] > job.stage})
        if not later:
            _end(job, now)
        else:
            job.stage = later[0]
            Job.objects.filter(pk=job.pk).update(stage=job.stage)
    return moved


def skip(
    reasons: Mapping[uuid.UUID, str], now: datetime, *, before: RunState = RunState.PLANNED
) -> list[uuid.UUID]:
    """Judge runs as skipped, each for its reason; return those that still were in `before`.

    Nothing was tried, so there is no result: what was tried is judged by `record_verdicts`.
    """
    rows = {
        run_id: {
            "verdict": Verdict.SKIPPED.value,
            "cause": Cause.NONE.value,
            "reason": storable(reason, limit=2000),
            "waits_because": "",
        }
        for run_id, reason in reasons.items()
    }
    return TestRun.objects.move_each(rows, before, RunState.JUDGED, now=now)


def _is_under_way(job: Job) -> bool:
    return TestRun.objects.filter(job=job, stage=job.stage, state__in=UNJUDGED).exists()


def _gates(job: Job) -> list[int]:
    """Return the steps that bar the way: all, where this release cannot read which."""
    try:
        return [each.position for each in steps_of(job.steps).values() if each.bars_the_way]
    except UnreadableStep:
        return [each["position"] for each in job.steps]


def _barred(job: Job) -> dict[int, str]:
    """Return the nodes that did not pass a gate of the open stage, and why, by node id."""
    gates = _gates(job)
    unpassed = TestRun.objects.filter(job=job, stage=job.stage, step__in=gates).exclude(
        verdict=Verdict.PASSED
    )
    found = unpassed.order_by("step").values_list("members__node_id", "slug", "verdict", "reason")
    return {
        node_id: storable(f"{slug} in stage {job.stage} {verdict}: {reason}", limit=1000)
        for node_id, slug, verdict, reason in reversed(list(found))
    }


def _dismiss(job: Job, reasons: Mapping[int, str], now: datetime) -> None:
    """Let these nodes leave the job: their later runs are skipped, and say why."""
    staying = JobNode.objects.filter(job=job, node_id__in=reasons, left_because="")
    rows = [
        {"id": member_id, "left_because": reasons[node_id]}
        for member_id, node_id in staying.values_list("id", "node_id")
    ]
    SetWriter(JobNode, "default").update(rows, Change(own=("left_because",)))
    later = TestRun.objects.filter(job=job, stage__gt=job.stage, state=RunState.PLANNED)
    let_go(later, reasons, now)


def let_go(planned: QuerySet[TestRun], reasons: Mapping[int, str], now: datetime) -> None:
    """Skip what these nodes were planned for, each for its reason, by node id.

    A shared run goes on with the others while they are enough. Call it alone at the site.
    """
    touched = planned.filter(members__node_id__in=reasons).distinct().values_list("id", "slug")
    slugs = dict(touched)
    members: dict[uuid.UUID, list[int]] = {}
    rows = RunNode.objects.filter(run_id__in=slugs).order_by("position")
    for run_id, node_id in rows.values_list("run_id", "node_id"):
        members.setdefault(run_id, []).append(node_id)
    skipped: dict[uuid.UUID, str] = {}
    apart: dict[uuid.UUID, list[int]] = {}
    for run_id, node_ids in members.items():
        leaving = [node_id for node_id in node_ids if node_id in reasons]
        staying = len(node_ids) - len(leaving)
        if staying < cohorts.LEAST_NODES:
            # The last to leave keeps the run, so that it is not without a node.
            skipped[run_id] = cohorts.too_few(slugs[run_id]) if staying else reasons[leaving.pop()]
        apart[run_id] = leaving
    alone = TestRun.objects.set_apart(apart, now=now)
    skip({**skipped, **{run_id: reasons[node_id] for run_id, node_id in alone.items()}}, now)


def _end(job: Job, now: datetime) -> None:
    job.state, job.verdict, job.finished_at = JobState.DONE, _verdict(job), now
    Job.objects.filter(pk=job.pk).update(
        state=job.state, verdict=job.verdict, finished_at=job.finished_at
    )


def _verdict(job: Job) -> JobVerdict:
    counts: dict[str, int] = dict(
        JobCount.objects.filter(job=job).values_list("key").annotate(Sum("count"))
    )
    if counts.get(Verdict.FAILED, 0):
        return JobVerdict.FAILED
    passed, measured = counts.get(Verdict.PASSED, 0), counts.get(Verdict.MEASURED, 0)
    everything = sum(counts.values())
    return (
        JobVerdict.PASSED if passed and passed + measured == everything else JobVerdict.INCOMPLETE
    )
