"""What was measured between each two nodes of a run: both directions of each link together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import F, Max, Min, Q, QuerySet
from django.db.models.functions import Greatest, Least

from burnin.hardware_tests.metrics import Better
from burnin.models import PairMetric, TestResult, TestRun
from burnin.selectors.run import ShownMetric
from fleet.models import Node


@dataclass(frozen=True)
class Link:
    """One link of two nodes; "" is the pair as a whole. `worst` is that of both directions."""

    one: str
    other: str
    name: str
    there: float | None
    back: float | None
    worst: ShownMetric

    @property
    def look(self) -> str:
        return look_of(self.worst)


def pairs_of(run: TestRun) -> QuerySet[PairMetric]:
    """Return every row of the run, as it was written."""
    return PairMetric.objects.filter(result__run=run).select_related("source", "target")


def metrics_with_pairs(result: TestResult, metrics: Sequence[ShownMetric]) -> list[ShownMetric]:
    """Return those metrics that were measured between two nodes, in the operator's order."""
    names = set(PairMetric.objects.filter(result=result).order_by().values_list("name").distinct())
    return [each for each in metrics if (each.name,) in names]


def links_of(result: TestResult, metric: ShownMetric) -> QuerySet[PairMetric, Any]:
    """Return the links by one metric, the worst first, for `link_of`."""
    rows = PairMetric.objects.filter(result=result, name=metric.name)
    worst = _worst(metric)
    return (
        rows.annotate(low=Least("source_id", "target_id"), high=Greatest("source_id", "target_id"))
        .values("low", "high", "link")
        .annotate(
            there=Min("value", filter=Q(source_id=F("low"))),
            back=Min("value", filter=Q(source_id=F("high"))),
            worst=worst("value"),
        )
        .order_by("-worst" if worst is Max else "worst", "low", "high", "link")
    )


def link_of(row: Mapping[str, Any], metric: ShownMetric, nodes: Mapping[int, Node]) -> Link:
    return Link(
        one=nodes[row["low"]].name,
        other=nodes[row["high"]].name,
        name=row["link"],
        there=row["there"],
        back=row["back"],
        worst=replace(metric, value=row["worst"]),
    )


def heat_of(
    result: TestResult, metric: ShownMetric, nodes: Sequence[Node]
) -> list[tuple[str, list[ShownMetric | None]]]:
    """Return a row for each node that sends, with what each that receives got over its worst link.

    A pair that has no number, and a node with itself, is None.
    """
    rows = PairMetric.objects.filter(result=result, name=metric.name).order_by()
    worst = rows.values("source_id", "target_id").annotate(worst=_worst(metric)("value"))
    found = {(each["source_id"], each["target_id"]): each["worst"] for each in worst}
    return [
        (
            source.name,
            [
                replace(metric, value=found[source.pk, target.pk])
                if (source.pk, target.pk) in found
                else None
                for target in nodes
            ],
        )
        for source in nodes
    ]


def look_of(metric: ShownMetric) -> str:
    """Return whether this value holds the bound that the result was judged by."""
    limit, value = metric.limit, metric.value
    if metric.passed is None or limit is None or value is None:
        return "measured"
    good = {Better.HIGHER.value: value >= limit, Better.LOWER.value: value <= limit}
    return "passed" if good.get(metric.bound["better"], value == limit) else "failed"


def _worst(metric: ShownMetric) -> type[Min | Max]:
    return Max if metric.better == Better.LOWER else Min
