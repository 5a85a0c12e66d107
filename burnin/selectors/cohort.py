"""What the nodes of one site and class tell of their firmware and settings, and who tells else.

Their newest conclusive node-health is compared, set-based: no node's verdict waits for another's.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from burnin.hardware_tests.metrics import shown
from burnin.hardware_tests.single_node.health.metrics import NodeHealthMetrics
from burnin.models import LatestResult, MetricRow
from fleet.models import Node, ResourceClass, Site
from runner.contract.health import COMPONENTS
from runner.contract.slugs import Slugs

NAMES_SHOWN = 1000


@dataclass(frozen=True)
class Words:
    """What some nodes tell of a component. `names` is empty for what most nodes tell."""

    text: str
    count: int
    names: tuple[str, ...]

    @property
    def unnamed(self) -> int:
        """How many nodes there are besides those named, of which a page takes no more."""
        return self.count - len(self.names)


@dataclass(frozen=True)
class Component:
    """`most` is what more than half of those that tell say; None where nothing is."""

    name: str
    label: str
    told: int
    most: Words | None
    others: tuple[Words, ...]


@dataclass(frozen=True)
class Cohort:
    """`total` counts all nodes: one that does not tell is unknown, never equal."""

    total: int
    components: tuple[Component, ...]


_Group = tuple[str, str, float, int]  # name, detail, value, how many nodes


def cohort_of(site: Site, resource_class: ResourceClass) -> Cohort:
    """Compare every component of the site's nodes of the class, in three queries."""
    rows = _rows(site, resource_class)
    counted = rows.order_by("name", "detail", "value").values_list("name", "detail", "value")
    groups: list[_Group] = list(counted.annotate(nodes=Count("pk")))
    by_name = {name: list(each) for name, each in groupby(groups, itemgetter(0))}
    most = {name: _most(each) for name, each in by_name.items()}
    names = _names(rows, [each for each in most.values() if each])
    return Cohort(
        Node.objects.filter(site=site, resource_class=resource_class).count(),
        tuple(
            _component(by_name[name], most[name], names) for name in COMPONENTS if name in by_name
        ),
    )


def _rows(site: Site, resource_class: ResourceClass) -> QuerySet[MetricRow]:
    """Return what each node told in its newest node-health: older ones of more are kept beside."""
    nodes = {"node__site": site, "node__resource_class": resource_class}
    shown = LatestResult.objects.filter(slug=Slugs.NODE_HEALTH)
    newer = Q(started_at__gt=OuterRef("started_at")) | Q(
        started_at=OuterRef("started_at"), pk__gt=OuterRef("pk")
    )
    newest = shown.filter(~Exists(shown.filter(newer, node=OuterRef("node"))), **nodes)
    return MetricRow.objects.filter(
        name__in=COMPONENTS, result__in=newest.values("result"), **nodes
    )


def _most(groups: Sequence[_Group]) -> _Group | None:
    largest, told = max(groups, key=itemgetter(3)), sum(each[3] for each in groups)
    return largest if 2 * largest[3] > told else None


def _names(
    rows: QuerySet[MetricRow], most: Iterable[_Group]
) -> dict[tuple[str, str, float], list[str]]:
    """Return the nodes that are not with the most, by what they tell."""
    agreeing = Q(pk__in=())
    for name, detail, value, _ in most:
        agreeing |= Q(name=name, detail=detail, value=value)
    found: dict[tuple[str, str, float], list[str]] = {}
    others = rows.exclude(agreeing).order_by("node__name")[:NAMES_SHOWN]
    for name, detail, value, node in others.values_list("name", "detail", "value", "node__name"):
        found.setdefault((name, detail, value), []).append(node)
    return found


def _component(
    groups: Sequence[_Group],
    most: _Group | None,
    names: dict[tuple[str, str, float], list[str]],
) -> Component:
    others = sorted((each for each in groups if each != most), key=itemgetter(3), reverse=True)
    name = groups[0][0]
    return Component(
        name=name,
        label=NodeHealthMetrics.declarations()[name].label,
        told=sum(each[3] for each in groups),
        most=_words(most, {}) if most else None,
        others=tuple(_words(each, names) for each in others),
    )


def _words(group: _Group, names: dict[tuple[str, str, float], list[str]]) -> Words:
    name, detail, value, count = group
    return Words(detail or shown(value), count, tuple(names.get((name, detail, value), ())))
