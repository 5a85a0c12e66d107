"""From an operator's request to planned runs, or one sentence and nothing written."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.contrib.auth.models import AbstractBaseUser
from django.db import IntegrityError

from burnin.hardware_tests.params import BadParams, parse_params
from burnin.hardware_tests.registry import UnknownSlug, get_test_class
from burnin.hardware_tests.run_context import BadRunContext, RunContext
from burnin.hardware_tests.thresholds.loader import BadThresholds, NoThresholds
from burnin.models import Job, JobNode, Preset, TestRun
from burnin.models.limits import limits_in_force
from burnin.storage.store import ArtifactStore, StoreRefused, StoreUnreachable
from burnin.workflow import stages
from burnin.workflow.bells import Bell, Bells, ring_after_commit
from burnin.workflow.sites import alone_at, why_closed
from burnin.workflow.steps import FrozenThresholds, Step, recipe_of
from fleet.models import Node, Site
from runner.contract.wire import AttemptToken

NAMES_SHOWN = 5
SINGLE_NODE = "single-node"


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


@dataclass(frozen=True)
class JobRequest:
    """A preset, or steps without one, on nodes of a site by their Slurm names."""

    site: Site
    node_names: Sequence[str]
    preset: Preset | None = None
    steps: Sequence[StepRequest] = ()
    requested_by: AbstractBaseUser | None = None
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
    nodes = _nodes(request)
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
    if not request.idempotency_key or request.requested_by is None:
        return None
    job = Job.objects.filter(
        requested_by_id=request.requested_by.pk, idempotency_key=request.idempotency_key
    ).first()
    if job is None:
        return None
    names = set(JobNode.objects.filter(job=job).values_list("node__name", flat=True))
    asked = (request.site.pk, request.preset.pk if request.preset else None)
    if (job.site_id, job.preset_id) != asked or names != set(request.node_names):
        raise PlanRefused(
            f"idempotency key {request.idempotency_key!r:.80} made job {job.pk}, "
            "which asks for something else: take a new key"
        )
    return job


def _nodes(request: JobRequest) -> list[Node]:
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
            f"`load_inventory {site.name}` if it is new there"
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
    """Resolve every step: params, limits, recipe. Raises PlanRefused."""
    asked = list(request.steps) if request.preset is None else _preset_steps(request.preset)
    if not asked:
        what = f"preset {request.preset.name}" if request.preset else "the request"
        raise PlanRefused(f"{what} has no steps: add a test to it")
    classes = sorted({each.resource_class.name for each in nodes})
    try:
        return [
            _frozen(position, each, request.site, classes)
            for position, each in enumerate(asked, start=1)
        ]
    except (BadParams, UnknownSlug, BadRunContext, NoThresholds, BadThresholds) as error:
        raise PlanRefused(str(error)) from error


def _preset_steps(preset: Preset) -> list[StepRequest]:
    return [
        StepRequest(
            slug=each.slug,
            timeout_minutes=each.timeout_minutes,
            params=each.params,
            stage=each.stage,
            iterations=each.iterations,
            is_gate=each.is_gate,
            measure_only=each.measure_only,
        )
        for each in preset.steps.order_by("position")
    ]


def _frozen(position: int, asked: StepRequest, site: Site, classes: Sequence[str]) -> Step:
    test = get_test_class(asked.slug)
    if test.stage != SINGLE_NODE:
        raise PlanRefused(f"{test.slug} needs several nodes a run, which jobs cannot plan yet")
    RunContext(
        token=AttemptToken(str(uuid.UUID(int=0)), 1),
        partition=site.partition,
        timeout_minutes=asked.timeout_minutes,
        iterations=asked.iterations,
        max_wait_minutes=site.max_wait_minutes,
    )
    return Step(
        position=position,
        stage=asked.stage,
        slug=test.slug,
        params=parse_params(test, asked.params).resolved(),
        timeout_minutes=asked.timeout_minutes,
        iterations=asked.iterations,
        is_gate=asked.is_gate,
        measure_only=asked.measure_only,
        recipe=recipe_of(test.slug),
        thresholds={name: _limits(test.slug, name) for name in classes},
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
    unfit = {each.pk: why for each in nodes if (why := why_unfit(each))}
    JobNode.objects.bulk_create(
        JobNode(job=job, node=each, left_because=unfit.get(each.pk, "")) for each in nodes
    )
    pairs = [
        (TestRun(job=job, site=request.site, stage=step.stage, step=step.position, slug=step.slug),
         node.pk)
        for step in steps
        for node in nodes
    ]  # fmt: skip
    write_runs(job, pairs, unfit, now)
    return job


def write_job(request: JobRequest, steps: Sequence[Step], node_count: int) -> Job:
    return Job.objects.create(
        site=request.site,
        preset=request.preset,
        steps=[each.as_json() for each in steps],
        stage=min(each.stage for each in steps),
        node_count=node_count,
        requested_by_id=request.requested_by.pk if request.requested_by else None,
        idempotency_key=request.idempotency_key,
    )


def write_runs(
    job: Job,
    pairs: Sequence[tuple[TestRun, int]],
    unfit: Mapping[int, str],
    now: datetime,
) -> None:
    """Plan the runs on their nodes, and skip at once those whose node cannot be used."""
    TestRun.objects.plan(
        [run for run, _ in pairs], {run.pk: [node_id] for run, node_id in pairs}, now=now
    )
    stages.skip({run.pk: unfit[node_id] for run, node_id in pairs if node_id in unfit}, now)
    stages.advance(job, now)


def why_unfit(node: Node) -> str:
    """Say why no run can be sent to the node; "" when one can."""
    if node.excluded_because:
        return f"{node.name} is excluded: {node.excluded_because}"
    if not node.is_usable:
        words = f": {node.slurm_reason}" if node.slurm_reason else ""
        return f"{node.name} is {node.slurm_state.lower() or 'not usable'} in Slurm{words}"
    return ""
