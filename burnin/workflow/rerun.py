"""Asks once more what a job did not pass: a new job, whose runs say which they repeat."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import IntegrityError

from burnin.models import AuditEntry, Job, JobNode, RunNode, TestRun
from burnin.models.audit import Action, Actor
from burnin.models.job import JobState
from burnin.states import Verdict
from burnin.storage.store import ArtifactStore
from burnin.workflow import asked_before, cohorts
from burnin.workflow.bells import Bell, Bells, ring_after_commit
from burnin.workflow.plan import (
    JobRequest,
    PlanRefused,
    refuse_dead_store,
    why_unfit,
    write_job,
    write_runs,
)
from burnin.workflow.sites import alone_at, why_closed
from burnin.workflow.steps import UnreadableStep, steps_of
from fleet.models import Node

FAILED = (Verdict.FAILED.value, Verdict.INCONCLUSIVE.value)
ERRORED = (Verdict.ERRORED.value,)
STANDS = [Verdict.PASSED.value, Verdict.MEASURED.value]

Repeated = list[tuple[TestRun, list[int]]]  # the runs to repeat, each with its nodes


@dataclass(frozen=True)
class Rerun:
    """Which nodes get another try: those with a run that ended with one of these verdicts."""

    action: Action
    verdicts: tuple[str, ...]


RERUN_FAILED = Rerun(Action.RERUN_FAILED, FAILED)
RERUN_ERRORED = Rerun(Action.RERUN_ERRORED, ERRORED)


def rerun_failed(
    job: Job,
    *,
    by: Actor,
    reason: str,
    store: ArtifactStore,
    bells: Bells,
    now: datetime,
    idempotency_key: str = "",
) -> Job:
    """Plan again the unpassed runs of every node that failed or vanished; return the new job.

    It keeps the steps with their params and limits. A node's passed runs are not repeated, those
    that it was skipped for are. Asked again with the same key, returns the job that stands there.
    Raises PlanRefused.
    """
    wish = Wish(job, RERUN_FAILED, by, reason, idempotency_key)
    return _rerun(wish, Tools(store, bells, now))


def rerun_errored(
    job: Job,
    *,
    by: Actor,
    reason: str,
    store: ArtifactStore,
    bells: Bells,
    now: datetime,
    idempotency_key: str = "",
) -> Job:
    """Plan again, like `rerun_failed`, for every node where a run could not be measured."""
    wish = Wish(job, RERUN_ERRORED, by, reason, idempotency_key)
    return _rerun(wish, Tools(store, bells, now))


@dataclass(frozen=True)
class Wish:
    """What is to be repeated, and who wants it why. A key is its user's, as in plan.JobRequest."""

    job: Job
    which: Rerun
    by: Actor
    reason: str
    idempotency_key: str


@dataclass(frozen=True)
class Tools:
    """What a re-run needs of the world around it."""

    store: ArtifactStore
    bells: Bells
    now: datetime


def _rerun(wish: Wish, tools: Tools) -> Job:
    job = wish.job
    if not wish.reason.strip():
        raise PlanRefused("say why it is repeated: the reason is kept in the audit list")
    if job.state != JobState.DONE:
        raise PlanRefused(f"job {job.pk} is not done: wait for its end, or cancel it")
    repeated = _repeated(job, wish.which.verdicts)
    if known := _known(wish, repeated):
        return known
    if why := why_closed(job.site, tools.now):
        raise PlanRefused(why)
    if not repeated:
        kind = " or ".join(wish.which.verdicts)
        raise PlanRefused(f"no run of job {job.pk} is {kind}: there is nothing to repeat")
    refuse_dead_store(tools.store)
    try:
        with alone_at(job.site):
            again = _write(wish, repeated, tools.now)
            ring_after_commit(tools.bells, job.site, {Bell.DISPATCH})
    except IntegrityError:
        if known := _known(wish, repeated):
            return known
        raise
    return again


def _known(wish: Wish, repeated: Repeated) -> Job | None:
    """Return the job that this key made. Raises PlanRefused if that repeats something else."""
    known = asked_before.job_of(wish.idempotency_key, wish.by)
    if known is None:
        return None
    repeats = set(TestRun.objects.filter(job=known).values_list("rerun_of", flat=True))
    if repeats != {run.pk for run, _ in repeated}:
        raise PlanRefused(asked_before.taken(wish.idempotency_key, known))
    return known


def _repeated(job: Job, verdicts: Sequence[str]) -> Repeated:
    """Return the runs to repeat with their nodes, in the order they had.

    Who was left out of a shared run joins it again.
    """
    members = RunNode.objects.filter(job=job)
    in_trouble = set(members.filter(run__verdict__in=verdicts).values_list("node_id", flat=True))
    unpassed = members.filter(node_id__in=in_trouble).exclude(run__verdict__in=STANDS)
    rows = unpassed.select_related("run").order_by("run__step", "run__created_at", "position")
    repeated: dict[object, tuple[TestRun, list[int]]] = {}
    for row in rows:
        key = row.run.step if cohorts.is_shared(row.run.slug) else row.run_id
        repeated.setdefault(key, (row.run, []))[1].append(row.node_id)
    return list(repeated.values())


def _write(wish: Wish, repeated: Repeated, now: datetime) -> Job:
    job, by, reason = wish.job, wish.by, wish.reason
    nodes = Node.objects.in_bulk({node_id for _, node_ids in repeated for node_id in node_ids})
    wanted = {run.step for run, _ in repeated}
    try:
        steps = [step for position, step in steps_of(job.steps).items() if position in wanted]
    except UnreadableStep as error:
        raise PlanRefused(str(error)) from error
    request = JobRequest(job.site, (), job.preset, by=by, idempotency_key=wish.idempotency_key)
    again = write_job(request, steps, len(nodes))
    unfit = {each.pk: why for each in nodes.values() if (why := why_unfit(each))}
    JobNode.objects.bulk_create(
        JobNode(job=again, node=each, left_because=unfit.get(each.pk, ""))
        for each in nodes.values()
    )
    planned = [
        (_copy(again, run), share)
        for run, node_ids in repeated
        for share in cohorts.shares(run.slug, node_ids, unfit)
    ]
    write_runs(again, planned, unfit, now)
    AuditEntry.objects.write(by, wish.which.action, job, site=job.site, reason=reason, now=now)
    return again


def _copy(job: Job, run: TestRun) -> TestRun:
    return TestRun(
        job=job, site_id=run.site_id, stage=run.stage, step=run.step, slug=run.slug, rerun_of=run
    )
