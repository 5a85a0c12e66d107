"""Hands planned runs to their site, no more than its nodes and its queue have room for."""

import logging
import uuid
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F

from burnin.hardware_tests.batch import BadBatchConfig
from burnin.hardware_tests.params import BadParams
from burnin.hardware_tests.registry import UnknownSlug, get_test_class
from burnin.hardware_tests.run_context import BadRunContext, RunContext
from burnin.hardware_tests.sbatch import UnsafeValue
from burnin.models import Attempt, Job, RunNode, TestRun
from burnin.models.job import JobState
from burnin.models.text import storable
from burnin.states import Cause, RunState, Verdict
from burnin.storage.store import ArtifactStore
from burnin.workflow import orders
from burnin.workflow.render import Bundle, Order, bundle_path, execution_context, render_script
from burnin.workflow.site_queue import QueueUnreachable, SiteQueue
from burnin.workflow.sites import alone_at, why_closed
from burnin.workflow.stages import advance_site
from burnin.workflow.steps import Step, steps_of
from fleet.models import Site
from runner.contract.wire import AttemptToken

log = logging.getLogger(__name__)

FIRST_ATTEMPT = 1
IN_FLIGHT = [RunState.DISPATCHED.value, RunState.SUBMITTED.value, RunState.RUNNING.value]
UNRENDERABLE = (BadBatchConfig, BadParams, BadRunContext, UnknownSlug, UnsafeValue)


def dispatch_site(
    site: Site, *, store: ArtifactStore, queue: SiteQueue, bundle: Bundle, now: datetime
) -> int:
    """Open what stages can open, send what there is room for, and return how many were sent."""
    advance_site(site, now)
    if why := why_closed(site, now):
        log.info("nothing is dispatched: %s", why)
        return 0
    sent = 0
    while attempts := _dispatch_batch(site, bundle, now):
        sent += len(attempts)
        try:
            orders.send_submits(site, attempts, store=store, queue=queue, now=now)
        except QueueUnreachable as error:
            log.warning("%s; reconcile sends it again", error)
            break
    return sent


def _dispatch_batch(site: Site, bundle: Bundle, now: datetime) -> list[Attempt]:
    """Choose, render and write one order's worth of runs, in one transaction."""
    with alone_at(site):
        chosen = _choose(site, limit=orders.JOBS_PER_ORDER)
        attempts: dict[uuid.UUID, Attempt] = {}
        unfit: dict[uuid.UUID, str] = {}
        for each in _read(site, chosen):
            try:
                attempts[each.run.pk] = _attempt(each, site, bundle, now)
            except UNRENDERABLE as error:
                unfit[each.run.pk] = str(error)
        _refuse(unfit, now)
        moved = TestRun.objects.move(
            attempts,
            RunState.PLANNED,
            RunState.DISPATCHED,
            now=now,
            attempt_number=FIRST_ATTEMPT,
            waits_because="",
        )
        return Attempt.objects.bulk_create(attempts[run_id] for run_id in moved)


def _choose(site: Site, *, limit: int) -> list[uuid.UUID]:
    """Return planned runs for whose nodes there is room, idle nodes first, older jobs first."""
    busy = RunNode.objects.filter(run__site=site, run__state__in=IN_FLIGHT)
    loads = Counter(busy.values_list("node_id", flat=True))
    in_flight = TestRun.objects.filter(site=site, state__in=IN_FLIGHT).count()
    room = min(limit, site.max_in_flight - in_flight)
    waiting = _waiting(site) if room > 0 else []
    chosen: list[uuid.UUID] = []
    for load in range(site.queue_ahead):
        for run_id, node_id in waiting:
            if len(chosen) >= room:
                return chosen
            if loads[node_id] == load:
                loads[node_id] += 1
                chosen.append(run_id)
        taken = set(chosen)
        waiting = [each for each in waiting if each[0] not in taken]
    return chosen


def _waiting(site: Site) -> list[tuple[uuid.UUID, int]]:
    """Return the planned runs of open stages with their node, if a job may be sent there."""
    runs = TestRun.objects.filter(
        site=site,
        state=RunState.PLANNED,
        job__state=JobState.ACTIVE,
        stage=F("job__stage"),
        members__node__is_usable=True,
        members__node__excluded_because="",
    )
    return list(
        runs.order_by("job__created_at", "created_at").values_list("id", "members__node_id")
    )


@dataclass(frozen=True)
class _Due:
    """A run that is about to be sent, and what its script is made of."""

    run: TestRun
    step: Step
    node_names: tuple[str, ...]
    resource_class: str


def _read(site: Site, run_ids: Sequence[uuid.UUID]) -> Iterator[_Due]:
    runs = TestRun.objects.in_bulk(run_ids)
    members = RunNode.objects.filter(run_id__in=run_ids).order_by("position")
    names: dict[uuid.UUID, list[str]] = {}
    classes: dict[uuid.UUID, str] = {}
    for run_id, name, resource_class in members.values_list(
        "run_id", "node__name", "node__resource_class__name"
    ):
        names.setdefault(run_id, []).append(name)
        classes[run_id] = resource_class
    steps = _steps({run.job_id for run in runs.values()})
    for run_id in run_ids:
        run = runs[run_id]
        yield _Due(run, steps[run.job_id][run.step], tuple(names[run_id]), classes[run_id])


def _steps(job_ids: set[uuid.UUID]) -> Mapping[uuid.UUID, Mapping[int, Step]]:
    kept = Job.objects.filter(pk__in=job_ids).values_list("id", "steps")
    return {job_id: steps_of(steps) for job_id, steps in kept}


def _attempt(due: _Due, site: Site, bundle: Bundle, now: datetime) -> Attempt:
    context = RunContext(
        token=AttemptToken(str(due.run.pk), FIRST_ATTEMPT),
        partition=site.partition,
        timeout_minutes=due.step.timeout_minutes,
        nodelist=due.node_names,
        iterations=due.step.iterations,
        max_wait_minutes=site.max_wait_minutes,
    )
    test = get_test_class(due.step.slug)()
    order = Order(test, due.step.parsed_params(), context, due.resource_class)
    return Attempt(
        run=due.run,
        number=FIRST_ATTEMPT,
        script=render_script(
            order,
            site,
            bundle_path=bundle_path(site, bundle.name),
            bundle_sha256=bundle.sha256,
        ),
        context=execution_context(order, site),
        bundle_sha256=bundle.sha256,
        asked_at=now,
        uploads_expire_at=now + orders.url_life(context.deadline_minutes),
    )


def _refuse(unfit: Mapping[uuid.UUID, str], now: datetime) -> None:
    """A run that cannot be rendered is errored, and must not hold up the others."""
    rows = {
        run_id: {
            "verdict": Verdict.ERRORED.value,
            "cause": Cause.TEST.value,
            "reason": storable(f"the batch script could not be made: {words}", limit=2000),
        }
        for run_id, words in unfit.items()
    }
    TestRun.objects.move_each(rows, RunState.PLANNED, RunState.JUDGED, now=now)
