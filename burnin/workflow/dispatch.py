"""Hands planned runs to their site, no more than its nodes and its queue have room for."""

import logging
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F

from burnin.hardware_tests.batch import BadBatchConfig
from burnin.hardware_tests.params import BadParams
from burnin.hardware_tests.registry import UnknownSlug, get_test_class
from burnin.hardware_tests.run_context import BadRunContext, RunContext
from burnin.hardware_tests.sbatch import UnsafeValue
from burnin.models import Attempt, Job, RunNode, TestRun
from burnin.models.job import JobState
from burnin.models.verdicts import RunVerdict, record_verdicts
from burnin.runner_bundle import BrokenBundle
from burnin.states import IN_FLIGHT, Cause, RunState, Verdict
from burnin.storage.store import ArtifactStore
from burnin.workflow import orders
from burnin.workflow.render import Bundle, Order, bundle_path, execution_context, render_script
from burnin.workflow.site_queue import QueueUnreachable, SiteQueue
from burnin.workflow.sites import alone_at, why_closed
from burnin.workflow.stages import advance_site
from burnin.workflow.steps import Step, UnreadableStep
from fleet.models import Node, Site
from runner.contract.wire import AttemptToken

log = logging.getLogger(__name__)

UNRENDERABLE = (
    BadBatchConfig,
    BadParams,
    BadRunContext,
    UnknownSlug,
    UnreadableStep,
    UnsafeValue,
)


def dispatch_site(
    site: Site,
    *,
    store: ArtifactStore,
    queue: SiteQueue,
    build: Callable[[], Bundle],
    now: datetime,
) -> int:
    """Open what stages can open, send what there is room for, and return how many were sent.

    `build` returns the runner that goes with them. Raises UnprovenBundle.
    """
    advance_site(site, now)
    if why := why_closed(site, now):
        log.info("nothing is dispatched: %s", why)
        return 0
    try:
        bundle = build()
    except BrokenBundle as error:
        log.error("nothing is dispatched: %s", error)
        _give_up(site, str(error), now)
        return 0
    sent = 0
    while attempts := _dispatch_batch(site, bundle, now):
        sent += len(attempts)
        try:
            orders.send_submits(site, attempts, store=store, queue=queue)
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
        if unfit:
            _refuse(unfit, now)
        moved = TestRun.objects.move_each(
            {
                run_id: {"attempt_number": each.number, "waits_because": ""}
                for run_id, each in attempts.items()
            },
            RunState.PLANNED,
            RunState.DISPATCHED,
            now=now,
            notes=_repeats(attempts.values()),
        )
        return Attempt.objects.bulk_create(attempts[run_id] for run_id in moved)


def _give_up(site: Site, why: str, now: datetime) -> None:
    """Judge what would have been sent: without a runner nothing can be, however long it waits."""
    with alone_at(site):
        verdicts = [
            RunVerdict(run_id, Verdict.ERRORED, Cause.INFRASTRUCTURE, why)
            for run_id, _ in _waiting(site)
        ]
        record_verdicts(verdicts, before=RunState.PLANNED, now=now)


def _choose(site: Site, *, limit: int) -> list[uuid.UUID]:
    """Return planned runs for whose nodes there is room, idle nodes first, older jobs first."""
    busy = RunNode.objects.filter(run__site=site, run__state__in=IN_FLIGHT)
    loads = Counter(busy.values_list("node_id", flat=True))
    in_flight = TestRun.objects.filter(site=site, state__in=IN_FLIGHT).count()
    room = min(limit, site.max_in_flight - in_flight)
    waiting = _unblocked(_waiting(site), loads, site.queue_ahead) if room > 0 else []
    chosen: list[uuid.UUID] = []
    for load in range(site.queue_ahead):
        for run_id, node_ids in waiting:
            if len(chosen) >= room:
                return chosen
            if max(loads[node_id] for node_id in node_ids) == load:
                loads.update(node_ids)
                chosen.append(run_id)
        taken = set(chosen)
        waiting = [each for each in waiting if each[0] not in taken]
    return chosen


def usable_nodes(site: Site, *, at_most: int) -> list[str]:
    """Return names of nodes that take jobs, those with none of ours first."""
    busy = RunNode.objects.filter(run__site=site, run__state__in=IN_FLIGHT)
    loads = Counter(busy.values_list("node_id", flat=True))
    nodes = Node.objects.filter(site=site, is_usable=True, excluded_because="").order_by("name")
    idle_first = sorted(nodes.only("pk", "name"), key=lambda node: loads[node.pk])
    return [node.name for node in idle_first[: max(0, at_most)]]


_Waiting = tuple[uuid.UUID, tuple[int, ...]]  # a run and its nodes


def _unblocked(
    waiting: Sequence[_Waiting], loads: Mapping[int, int], queue_ahead: int
) -> list[_Waiting]:
    """Leave out what there is no room for now, and what would keep an older shared run waiting.

    Its nodes get no younger runs: one at least would be at work at any time.
    """
    held: set[int] = set()
    free = []
    for run_id, node_ids in waiting:
        is_full = any(loads.get(node_id, 0) >= queue_ahead for node_id in node_ids)
        is_held = not held.isdisjoint(node_ids)
        if (is_full or is_held) and len(node_ids) > 1:
            held.update(node_ids)
        elif not is_full and not is_held:
            free.append((run_id, node_ids))
    return free


def _waiting(site: Site) -> list[_Waiting]:
    """Return the planned runs of open stages, older jobs first, whose nodes all take jobs."""
    runs = TestRun.objects.filter(
        site=site, state=RunState.PLANNED, job__state=JobState.ACTIVE, stage=F("job__stage")
    )
    rows = runs.order_by("job__created_at", "created_at").values_list(
        "id", "members__node_id", "members__node__is_usable", "members__node__excluded_because"
    )
    nodes: dict[uuid.UUID, list[int]] = {}
    away = set()
    for run_id, node_id, is_usable, excluded_because in rows:
        nodes.setdefault(run_id, []).append(node_id)
        if not is_usable or excluded_because:
            away.add(run_id)
    return [(run_id, tuple(ids)) for run_id, ids in nodes.items() if run_id not in away]


@dataclass(frozen=True)
class _Due:
    """A run that is about to be sent, and what its script is made of."""

    run: TestRun
    frozen: Mapping[str, Any]  # its step, as its job keeps it
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


def _steps(job_ids: set[uuid.UUID]) -> Mapping[uuid.UUID, Mapping[int, Mapping[str, Any]]]:
    kept = Job.objects.filter(pk__in=job_ids).values_list("id", "steps")
    return {job_id: {each["position"]: each for each in steps} for job_id, steps in kept}


def _attempt(due: _Due, site: Site, bundle: Bundle, now: datetime) -> Attempt:
    number, step = due.run.attempt_number + 1, Step.from_json(due.frozen)
    context = RunContext(
        token=AttemptToken(str(due.run.pk), number),
        partition=site.partition,
        timeout_minutes=step.timeout_minutes,
        nodelist=due.node_names,
        iterations=step.iterations,
        max_wait_minutes=site.max_wait_minutes,
    )
    test = get_test_class(step.slug)()
    hardware = step.hardware_for(due.resource_class)
    order = Order(test, step.parsed_params(due.resource_class), context, hardware)
    return Attempt(
        run=due.run,
        number=number,
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


def _repeats(attempts: Iterable[Attempt]) -> dict[uuid.UUID, str]:
    return {each.run_id: f"attempt {each.number}" for each in attempts if each.number > 1}


def _refuse(unfit: Mapping[uuid.UUID, str], now: datetime) -> None:
    """A run that cannot be rendered is errored, and must not hold up the others."""
    verdicts = [
        RunVerdict(
            run_id, Verdict.ERRORED, Cause.TEST, f"the batch script could not be made: {words}"
        )
        for run_id, words in unfit.items()
    ]
    record_verdicts(verdicts, before=RunState.PLANNED, now=now)
