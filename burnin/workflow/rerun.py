"""Asks once more what a job did not pass: a new job, whose runs say which they repeat."""

from datetime import datetime

from django.contrib.auth.models import AbstractBaseUser

from burnin.models import Job, JobNode, RunNode, TestRun
from burnin.models.job import JobState
from burnin.states import Verdict
from burnin.storage.store import ArtifactStore
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
from burnin.workflow.steps import steps_of
from fleet.models import Node

TROUBLE = [Verdict.FAILED.value, Verdict.ERRORED.value, Verdict.INCONCLUSIVE.value]
STANDS = [Verdict.PASSED.value, Verdict.MEASURED.value]


def rerun_failed(
    job: Job,
    *,
    requested_by: AbstractBaseUser | None,
    store: ArtifactStore,
    bells: Bells,
    now: datetime,
) -> Job:
    """Plan the job's unpassed runs again, for every node that had trouble; return the new job.

    It keeps the steps with their params and limits. A node's passed runs are not repeated, those
    that it was skipped for are. Raises PlanRefused.
    """
    if job.state != JobState.DONE:
        raise PlanRefused(f"job {job.pk} is not done: wait for its end, or cancel it")
    if why := why_closed(job.site, now):
        raise PlanRefused(why)
    repeated = _repeated(job)
    if not repeated:
        raise PlanRefused(f"no run of job {job.pk} failed: there is nothing to repeat")
    refuse_dead_store(store)
    with alone_at(job.site):
        again = _write(job, repeated, requested_by, now)
        ring_after_commit(bells, job.site, {Bell.DISPATCH})
    return again


def _repeated(job: Job) -> list[tuple[TestRun, int]]:
    """Return the runs to repeat with their nodes, in the order they had."""
    members = RunNode.objects.filter(run__job=job)
    in_trouble = set(members.filter(run__verdict__in=TROUBLE).values_list("node_id", flat=True))
    unpassed = members.filter(node_id__in=in_trouble).exclude(run__verdict__in=STANDS)
    rows = unpassed.select_related("run").order_by("run__step", "run__created_at")
    return [(row.run, row.node_id) for row in rows]


def _write(
    job: Job,
    repeated: list[tuple[TestRun, int]],
    requested_by: AbstractBaseUser | None,
    now: datetime,
) -> Job:
    nodes = Node.objects.in_bulk({node_id for _, node_id in repeated})
    wanted = {run.step for run, _ in repeated}
    steps = [step for position, step in steps_of(job.steps).items() if position in wanted]
    request = JobRequest(site=job.site, node_names=(), preset=job.preset, requested_by=requested_by)
    again = write_job(request, steps, len(nodes))
    unfit = {each.pk: why for each in nodes.values() if (why := why_unfit(each))}
    JobNode.objects.bulk_create(
        JobNode(job=again, node=each, left_because=unfit.get(each.pk, ""))
        for each in nodes.values()
    )
    pairs = [(_copy(again, run), node_id) for run, node_id in repeated]
    write_runs(again, pairs, unfit, now)
    return again


def _copy(job: Job, run: TestRun) -> TestRun:
    return TestRun(
        job=job, site_id=run.site_id, stage=run.stage, step=run.step, slug=run.slug, rerun_of=run
    )
