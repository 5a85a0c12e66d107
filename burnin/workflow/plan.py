"""From an operator's request to planned runs, or one sentence and nothing written."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import IntegrityError

from burnin.hardware_tests.params import BadParams, TestParams, parse_params
from burnin.hardware_tests.registry import UnknownSlug, get_test_class
from burnin.hardware_tests.run_context import BadRunContext, RunContext, refuse_too_short
from burnin.hardware_tests.site_params import SiteLacks, filled_in
from burnin.hardware_tests.thresholds.errors import BadThresholds, NoThresholds
from burnin.models import AuditEntry, Job, JobNode, Preset, PresetStep, TestRun
from burnin.models.audit import Action, Actor
from burnin.models.limits import limits_in_force
from burnin.storage.store import ArtifactStore, StoreRefused, StoreUnreachable
from burnin.workflow import asked_before, cohorts, stages
from burnin.workflow.bells import Bell, Bells, ring_after_commit
from burnin.workflow.sites import alone_at, why_closed
from burnin.workflow.steps import FrozenThresholds, Step, UnreadableStep, recipe_of
from fleet.hardware import Hardware
from fleet.models import HardwareUnstated, Node, Site
from runner.contract.wire import AttemptToken

NAMES_SHOWN = 5
REFUSED = (
    BadParams,
    UnknownSlug,
    BadRunContext,
    NoThresholds,
    BadThresholds,
    HardwareUnstated,
)
PROGRAM = Actor("a program of this hub")


class PlanRefused(Exception):
    """The job cannot be planned. Nothing was written; the message says what to change."""


@dataclass(frozen=True)
class StepRequest:
    """One test as it was asked for. Its params may leave out what has a default."""

    slug: str
    timeout_minutes: int
    params: Mapping[str, Any] = field(default_factory=dict)
    stage: int = 1
    iterations: int = 1
    is_gate: bool = True
    measure_only: bool = False
    max_attempts: int = 2


@dataclass(frozen=True)
class JobRequest:
    """A preset, or steps without one, on nodes of a site by their Slurm names.

    An idempotency key is its user's: without a user it means nothing.
    """

    site: Site
    node_names: Sequence[str]
    preset: Preset | None = None
    steps: Sequence[StepRequest] = ()
    by: Actor = PROGRAM
    reason: str = ""
    idempotency_key: str = ""


def plan_job(request: JobRequest, *, store: ArtifactStore, bells: Bells, now: datetime) -> Job:
    """Write the job with all its runs, and return it.

    Asked again with the same idempotency key, returns the job that stands there. Nodes that
    cannot be used are listed as skipped. Raises PlanRefused.
    """
    if known := _known(request):
        return known
    if why := why_closed(request.site, now):
        raise PlanRefused(why)
    nodes = named_nodes(request)
    steps = freeze(request, nodes)
    refuse_dead_store(store)
    try:
        with alone_at(request.site):
            job = _write(request, steps, nodes, now)
            ring_after_commit(bells, request.site, {Bell.DISPATCH})
    except IntegrityError:
        if known := _known(request):
            return known
        raise
    return job


def _known(request: JobRequest) -> Job | None:
    """Return the job that this key made. Raises PlanRefused if it was asked for something else."""
    job = asked_before.job_of(request.idempotency_key, request.by)
    if job is None:
        return None
    names = set(JobNode.objects.filter(job=job).values_list("node__name", flat=True))
    asked = (request.site.pk, request.preset.pk if request.preset else None)
    is_same = (job.site_id, job.preset_id) == asked and names == set(request.node_names)
    if not is_same or (request.preset is None and not _asks_for(request.steps, job)):
        raise PlanRefused(asked_before.taken(request.idempotency_key, job))
    return job


def _asks_for(steps: Sequence[StepRequest], job: Job) -> bool:
    """Say whether a job without a preset has just these steps. Bounds may have changed since."""
    try:
        kept = [Step.from_json(each) for each in job.steps]
    except UnreadableStep:
        return False
    return len(kept) == len(steps) and all(map(_is_step, steps, kept))


def _is_step(asked: StepRequest, kept: Step) -> bool:
    told = vars(asked)
    same = all(getattr(kept, name) == value for name, value in told.items() if name != "params")
    return same and all(kept.params.get(name) == value for name, value in asked.params.items())


def named_nodes(request: JobRequest) -> list[Node]:
    """Return the nodes in the order they were asked for."""
    site, asked = request.site, list(request.node_names)
    if not asked:
        raise PlanRefused("no node was named: name at least one")
    if twice := [name for name, count in Counter(asked).items() if count > 1]:
        raise PlanRefused(f"{_listed(twice)} named more than once")
    known = {each.name: each for each in _of_site(site, asked)}
    if unknown := [name for name in asked if name not in known]:
        raise PlanRefused(
            f"site {site.name} has no node {_listed(unknown)}: correct the name, or run "
            f"`manage.py load_inventory {site.name}` if it is new there"
        )
    return [known[name] for name in asked]


def _of_site(site: Site, names: Sequence[str]) -> list[Node]:
    found = Node.objects.filter(site=site).select_related("resource_class")
    # A long IN costs more than reading the site's nodes once.
    return list(found if len(names) > 500 else found.filter(name__in=names))


def _listed(names: Sequence[str]) -> str:
    more = len(names) - NAMES_SHOWN
    shown = ", ".join(f"{name:.80}" for name in names[:NAMES_SHOWN])
    return f"{shown} and {more} more" if more > 0 else shown


def freeze(request: JobRequest, nodes: Sequence[Node]) -> list[Step]:
    """Resolve every step: params, limits, recipe. Raises PlanRefused.

    Of a preset nodes of a class are asked what they have the hardware for. A step of which
    nothing is left is no step for that class, and one that the site does not set up is none.
    """
    asked = dict(enumerate(request.steps, start=1))
    if request.preset is not None:
        asked = _preset_steps(request.preset, request.site)
    if not asked:
        what = f"preset {request.preset.name}" if request.preset else "the request"
        raise PlanRefused(f"{what} has no steps: add a test to it")
    counts = Counter(each.resource_class.name for each in nodes)
    try:
        hardware = {each.resource_class.name: each.resource_class.hardware for each in nodes}
        fitting = {
            position: (each, _fitting(each, request, hardware)) for position, each in asked.items()
        }
        for each, classes in fitting.values():
            _refuse_unshareable(each.slug, sum(counts[name] for name in classes), list(classes))
        steps = [
            _frozen(position, each, request.site, classes, hardware)
            for position, (each, classes) in fitting.items()
            if classes
        ]
    except REFUSED as error:
        raise PlanRefused(str(error)) from error
    if not steps and request.preset:
        raise PlanRefused(
            f"preset {request.preset.name} has no test for nodes of {_listed(sorted(counts))}"
        )
    return steps


def _fitting(
    asked: StepRequest, request: JobRequest, hardware: Mapping[str, Hardware]
) -> dict[str, TestParams]:
    """Return the classes whose nodes the step is for, and the params that they are given.

    What was asked for by name is for all: there a node without the hardware is an error.
    """
    test = get_test_class(asked.slug)
    params = parse_params(test, asked.params)
    if request.preset is None:
        return dict.fromkeys(sorted(hardware), params)
    on = {name: test.params_on(params, hardware[name]) for name in sorted(hardware)}
    return {name: fit for name, fit in on.items() if fit is not None}


def _refuse_unshareable(slug: str, node_count: int, classes: Sequence[str]) -> None:
    """Raise PlanRefused if these nodes cannot share a run of the test."""
    if not cohorts.is_shared(slug):
        return
    if classes and (why := cohorts.why_unshareable(slug, node_count)):
        raise PlanRefused(why)
    if len(classes) > 1:
        raise PlanRefused(
            f"{slug:.80} needs nodes of one resource class, and these are of {_listed(classes)}: "
            "its limits hold for one class at a time"
        )


def _preset_steps(preset: Preset, site: Site) -> dict[int, StepRequest]:
    """Return the steps by position, but those that take from the site what it does not set."""
    found = {}
    for position, each in enumerate(preset.steps.order_by("position"), start=1):
        try:
            found[position] = _request_of(each, filled_in(each.params, site))
        except SiteLacks:
            continue
    return found


def _request_of(step: PresetStep, params: Mapping[str, Any]) -> StepRequest:
    return StepRequest(
        slug=step.slug,
        timeout_minutes=step.timeout_minutes,
        params=params,
        stage=step.stage,
        iterations=step.iterations,
        is_gate=step.is_gate,
        measure_only=step.measure_only,
        max_attempts=step.max_attempts,
    )


def _frozen(
    position: int,
    asked: StepRequest,
    site: Site,
    classes: Mapping[str, TestParams],
    hardware: Mapping[str, Hardware],
) -> Step:
    test = get_test_class(asked.slug)
    params = parse_params(test, asked.params)
    context = RunContext(
        token=AttemptToken(str(uuid.UUID(int=0)), 1),
        partition=site.partition,
        timeout_minutes=asked.timeout_minutes,
        iterations=asked.iterations,
        max_wait_minutes=site.max_wait_minutes,
    )
    refuse_too_short(
        context, slug=test.slug, params=params, timed_phases=test.timed_phases(params.resolved())
    )
    return Step(
        position=position,
        stage=asked.stage,
        slug=test.slug,
        params=params.resolved(),
        timeout_minutes=asked.timeout_minutes,
        iterations=asked.iterations,
        is_gate=asked.is_gate,
        measure_only=asked.measure_only,
        max_attempts=asked.max_attempts,
        recipe=recipe_of(test.slug),
        thresholds={name: _limits(test.slug, name) for name in classes},
        params_on={name: less.resolved() for name, less in classes.items() if less != params},
        hardware={name: hardware[name] for name in classes},
    )


def _limits(slug: str, resource_class: str) -> FrozenThresholds:
    found = limits_in_force(slug, resource_class)
    return FrozenThresholds(found.version.pk, found.version.label, found.thresholds.bounds)


def refuse_dead_store(store: ArtifactStore) -> None:
    """Raise PlanRefused if results could not be brought in."""
    try:
        store.probe()
    except (StoreUnreachable, StoreRefused) as error:
        raise PlanRefused(f"the artifact store cannot be used: {error}") from error


def _write(request: JobRequest, steps: Sequence[Step], nodes: Sequence[Node], now: datetime) -> Job:
    job = write_job(request, steps, len(nodes))
    AuditEntry.objects.write(
        request.by, Action.START_JOB, job, site=request.site, reason=request.reason, now=now
    )
    unfit = {each.pk: why for each in nodes if (why := why_unfit(each))}
    JobNode.objects.bulk_create(
        JobNode(job=job, node=each, left_because=unfit.get(each.pk, "")) for each in nodes
    )
    planned = [
        (TestRun(job=job, site=request.site, stage=step.stage, step=step.position, slug=step.slug),
         share)
        for step in steps
        for share in cohorts.shares(step.slug, _node_ids(step, nodes), unfit)
    ]  # fmt: skip
    write_runs(job, planned, unfit, now)
    return job


def _node_ids(step: Step, nodes: Sequence[Node]) -> list[int]:
    return [each.pk for each in nodes if step.is_for(each.resource_class.name)]


def write_job(request: JobRequest, steps: Sequence[Step], node_count: int) -> Job:
    return Job.objects.create(
        site=request.site,
        preset=request.preset,
        steps=[each.as_json() for each in steps],
        stage=min(each.stage for each in steps),
        node_count=node_count,
        requested_by_id=request.by.user_id,
        idempotency_key=request.idempotency_key,
    )


def write_runs(
    job: Job,
    planned: Sequence[tuple[TestRun, Sequence[int]]],
    unfit: Mapping[int, str],
    now: datetime,
) -> None:
    """Plan the runs on their nodes, and skip at once those whose nodes cannot be used."""
    TestRun.objects.plan(
        [run for run, _ in planned], {run.pk: node_ids for run, node_ids in planned}, now=now
    )
    reasons = {run.pk: cohorts.why_skipped(run.slug, node_ids, unfit) for run, node_ids in planned}
    stages.skip({run_id: why for run_id, why in reasons.items() if why}, now)
    stages.advance(job, now)


def why_unfit(node: Node) -> str:
    """Say why no run can be sent to the node; "" when one can."""
    if node.excluded_because:
        return f"{node.name} is excluded: {node.excluded_because}"
    if not node.is_usable:
        words = f": {node.slurm_reason}" if node.slurm_reason else ""
        return f"{node.name} is {node.slurm_state.lower() or 'not usable'} in Slurm{words}"
    return ""
