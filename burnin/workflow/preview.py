"""What a job would send, worked out like the job itself, with nothing written."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from burnin.hardware_tests.registry import get_test_class
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.site_params import SiteLacks, filled_in
from burnin.models import PresetStep
from burnin.workflow import cohorts
from burnin.workflow.plan import JobRequest, freeze, named_nodes, why_unfit
from burnin.workflow.render import Bundle, Order, bundle_path, render_script
from burnin.workflow.sites import why_closed
from burnin.workflow.steps import Step
from fleet.models import Node, Site
from runner.contract.wire import AttemptToken

# A run has no id before its job is planned.
NO_RUN = AttemptToken(str(uuid.UUID(int=0)), 1)


@dataclass(frozen=True)
class LeftOut:
    """A node that would be listed as skipped, and why."""

    node: Node
    reason: str


@dataclass(frozen=True)
class Omitted:
    """A test of the preset that the job would not have, and why."""

    slug: str
    reason: str


@dataclass(frozen=True)
class Preview:
    """What would be sent. `closed_because` says why nothing can be; "" when it can.

    `omitted` are tests of the preset that no node here is asked for, each with the reason.
    """

    site: Site
    usable: tuple[Node, ...]
    left_out: tuple[LeftOut, ...]
    steps: tuple[Step, ...]
    omitted: tuple[Omitted, ...]
    closed_because: str
    script: str

    @property
    def run_count(self) -> int:
        """Slurm jobs if every node passes every gate."""
        members = [(step, len(_members(step, self.usable))) for step in self.steps]
        return sum(
            min(count, 1) if cohorts.is_shared(step.slug) else count for step, count in members
        )

    @property
    def longest_node_minutes(self) -> int:
        """The time limits of all steps, one after another: a node takes no longer in Slurm."""
        return sum(step.timeout_minutes for step in self.steps)


def preview_job(request: JobRequest, *, bundle: Bundle, now: datetime) -> Preview:
    """Return what `plan_job` would do with this request. Raises PlanRefused."""
    nodes = named_nodes(request)
    steps = freeze(request, nodes)
    unfit = [LeftOut(node, why) for node in nodes if (why := why_unfit(node))]
    out = {each.node.pk for each in unfit}
    usable = tuple(node for node in nodes if node.pk not in out)
    return Preview(
        site=request.site,
        usable=usable,
        left_out=tuple(unfit),
        steps=tuple(steps),
        omitted=_omitted(request, steps),
        closed_because=why_closed(request.site, now),
        script=_first_script(request.site, usable, steps, bundle),
    )


def _omitted(request: JobRequest, steps: Sequence[Step]) -> tuple[Omitted, ...]:
    asked = request.preset.steps.order_by("position") if request.preset else ()
    kept = {step.position for step in steps}
    return tuple(
        Omitted(each.slug, _why_omitted(each, request.site))
        for number, each in enumerate(asked, start=1)
        if number not in kept
    )


def _why_omitted(step: PresetStep, site: Site) -> str:
    try:
        filled_in(step.params, site)
    except SiteLacks as lacking:
        return str(lacking)
    return "the nodes have not the hardware for it"


def _members(step: Step, usable: Sequence[Node]) -> list[Node]:
    return [node for node in usable if step.is_for(node.resource_class.name)]


def _first_script(site: Site, usable: Sequence[Node], steps: Sequence[Step], bundle: Bundle) -> str:
    """Render what would be sent first; "" if too few nodes are usable."""
    step = min(steps, key=lambda each: (each.stage, each.position))
    fit = _members(step, usable)
    members = fit if cohorts.is_shared(step.slug) else fit[:1]
    if len(members) < (cohorts.LEAST_NODES if cohorts.is_shared(step.slug) else 1):
        return ""
    context = RunContext(
        token=NO_RUN,
        partition=site.partition,
        timeout_minutes=step.timeout_minutes,
        nodelist=tuple(each.name for each in members),
        iterations=step.iterations,
        max_wait_minutes=site.max_wait_minutes,
    )
    order = Order(
        get_test_class(step.slug)(),
        step.parsed_params(members[0].resource_class.name),
        context,
        step.hardware_for(members[0].resource_class.name),
    )
    path = bundle_path(site, bundle.name)
    return render_script(order, site, bundle_path=path, bundle_sha256=bundle.sha256)
