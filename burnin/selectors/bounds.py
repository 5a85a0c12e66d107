"""A version of limits, metric by metric, with what the test's definition says of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.metrics import MetricDeclaration, fabric_words
from burnin.hardware_tests.thresholds.schema import Standing
from burnin.models import ThresholdVersion
from burnin.models.limits import difference


@dataclass(frozen=True)
class StatedBound:
    """What a version says of one metric. `value` is None unless it gates; then `why` says why."""

    metric: str
    label: str
    unit: str
    better: str
    standing: Standing
    value: float | None = None
    source: str = ""
    confidence: str = ""
    fingerprint: str = ""
    num_nodes: int | None = None
    why: str = ""
    fabric: str = ""
    by_fabric: tuple[StatedBound, ...] = ()

    @property
    def gates(self) -> bool:
        return self.standing is Standing.GATES


@dataclass(frozen=True)
class Difference:
    """What two versions say of one metric; None where one says nothing."""

    label: str
    before: StatedBound | None
    after: StatedBound | None


def bounds_of(test: type[BaseTest], version: ThresholdVersion) -> list[StatedBound]:
    """Return the version's bounds in the operator's order; metrics there are no more come last."""
    declared = test.metrics_class.declarations()
    known = [name for name in declared if name in version.bounds]
    gone = [name for name in version.bounds if name not in declared]
    return [stated_bound(name, version.bounds[name], declared) for name in [*known, *gone]]


def stated_bound(
    name: str, stated: Mapping[str, Any], declared: Mapping[str, MetricDeclaration]
) -> StatedBound:
    """Return one entry as thresholds.yaml would state it, with the metric's own words."""
    metric = declared.get(name)
    own: dict[str, Any] = {
        "metric": name,
        "label": metric.label if metric else name,
        "unit": metric.unit.value if metric else "",
        "better": metric.better.value if metric and metric.better else "exact",
    }
    if "by_fabric" in stated:
        each = tuple(stated_bound(name, limit, declared) for limit in stated["by_fabric"])
        why = "Each is of one network and number of nodes; on any other, runs end errored."
        return StatedBound(**own, standing=Standing.UNCALIBRATED, why=why, by_fabric=each)
    for standing in (Standing.NOT_GATED, Standing.UNCALIBRATED):
        if standing.value in stated:
            return StatedBound(**own, standing=standing, why=str(stated[standing.value]))
    return StatedBound(
        **own,
        standing=Standing.GATES,
        value=stated.get("value"),
        source=str(stated.get("source", "")),
        confidence=str(stated.get("confidence", "")),
        fingerprint=str(stated.get("fingerprint", "")),
        num_nodes=stated.get("num_nodes"),
        fabric=fabric_words(stated.get("fabric", {})),
    )


def differences(
    test: type[BaseTest], before: ThresholdVersion, after: ThresholdVersion
) -> list[Difference]:
    """Return the metrics of which the two say different things, in the operator's order."""
    old = {each.metric: each for each in bounds_of(test, before)}
    new = {each.metric: each for each in bounds_of(test, after)}
    changed = {each.metric for each in difference(before, after)}
    names = [name for name in dict.fromkeys([*new, *old]) if name in changed]
    return [
        Difference((new.get(name) or old[name]).label, old.get(name), new.get(name))
        for name in names
    ]
