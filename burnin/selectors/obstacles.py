"""What stands between the nodes of a class and acceptance, whatever they measure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.params import BadParams, TestParams, parse_params
from burnin.hardware_tests.registry import UnknownSlug, get_test_class
from burnin.hardware_tests.site_params import with_examples
from burnin.hardware_tests.thresholds.schema import Standing
from burnin.models import Acceptance, PresetStep, ThresholdVersion
from burnin.selectors.bounds import StatedBound, bounds_of
from burnin.selectors.limits import LimitsKey, versions_in_force
from fleet.models import HardwareUnstated, ResourceClass

MEASURE = "measure good nodes with `measure_only`, then set the limit"


@dataclass(frozen=True)
class Obstacle:
    """What keeps every run of a test from passing on nodes of the class.

    Not `is_final`: only runs on other networks or numbers of nodes than the limits are of.
    """

    slug: str
    metric: str
    words: str
    is_final: bool = True


@dataclass(frozen=True)
class Outlook:
    """A class, the preset that accepts it ("" for none), and what to know before it can."""

    resource_class: str
    preset: str
    said: Sequence[Obstacle]

    @property
    def obstacles(self) -> list[Obstacle]:
        """Return why it can accept none of the class's nodes, whatever they measure."""
        return [each for each in self.said if each.is_final]

    @property
    def notes(self) -> list[Obstacle]:
        return [each for each in self.said if not each.is_final]


def outlooks() -> list[Outlook]:
    """Return how it stands with every class, by name, in a fixed number of queries."""
    limits = versions_in_force()
    rows = Acceptance.objects.select_related("preset").prefetch_related("preset__steps")
    accepting = {each.resource_class_id: each.preset for each in rows}
    found = []
    for kind in ResourceClass.objects.order_by("name"):
        preset = accepting.get(kind.pk)
        steps = list(preset.steps.all()) if preset else []
        said = {
            (each.slug, each.metric): each
            for step in steps
            if not step.measure_only
            for each in _of_step(step, kind, limits)
        }
        found.append(Outlook(kind.name, preset.name if preset else "", list(said.values())))
    return found


def _of_step(
    step: PresetStep, kind: ResourceClass, limits: Mapping[LimitsKey, ThresholdVersion]
) -> Iterator[Obstacle]:
    try:
        test = get_test_class(step.slug)
        params = parse_params(test, with_examples(step.params))
        fitting = test.params_on(params, kind.hardware)
    except (UnknownSlug, BadParams, HardwareUnstated) as error:
        yield Obstacle(step.slug, "", str(error))
        return
    if fitting is None:
        return
    version = limits.get((step.slug, kind.name))
    if version is None:
        yield Obstacle(step.slug, "", f"it has no limits for {kind.name}: {MEASURE}")
        return
    for bound in _asked(test, fitting, version):
        if only := _only_on(bound):
            words = f"{bound.label} is judged on {only}, no others"
            yield Obstacle(step.slug, bound.metric, words, is_final=False)
        elif bound.standing is Standing.UNCALIBRATED:
            yield Obstacle(step.slug, bound.metric, _without_limit(bound))


def _asked(
    test: type[BaseTest], params: TestParams, version: ThresholdVersion
) -> list[StatedBound]:
    asked = test.metrics_asked(params)
    return [bound for bound in bounds_of(test, version) if bound.metric in asked]


def _only_on(bound: StatedBound) -> str:
    """Say which runs the bound is of; "" if of all."""
    if bound.by_fabric:
        return " or ".join(map(_only_on, bound.by_fabric))
    nodes = f"{bound.num_nodes} nodes together" if bound.num_nodes is not None else ""
    return f"{nodes or 'nodes'} ({bound.fabric})" if bound.fabric else nodes


def _without_limit(bound: StatedBound) -> str:
    return f"{bound.label} has no limit ({bound.why}): {MEASURE}"
