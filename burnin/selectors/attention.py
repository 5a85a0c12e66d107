"""What needs somebody: trouble of one cause is one entry, whatever the number of nodes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Case, Count, F, IntegerField, Max, QuerySet, Value, When, Window
from django.db.models.functions import RowNumber

from burnin.models import Trouble
from burnin.slurm.hostlist import BadHostList, fold
from burnin.states import Verdict
from fleet.models import Node, Site

ENTRIES = 12
NODES_READ = 200  # of each entry: enough to say what they share

Key = tuple[str, str, str, str]  # verdict, slug, signature, cause


@dataclass(frozen=True)
class Entry:
    """Nodes with the same trouble in the same test. `newest` is its newest run there."""

    verdict: str
    cause: str
    slug: str
    count: int
    newest: Trouble
    hosts: str
    shared: str
    is_whole: bool


@dataclass(frozen=True)
class Attention:
    """The worst and largest entries, and how many more there are."""

    entries: list[Entry]
    more: int


def attention(sites: QuerySet[Site]) -> Attention:
    """Return what is wrong at these sites now, failed gates first, in four queries."""
    open_now = Trouble.objects.filter(node__site__in=sites, node__excluded_because="")
    groups = _groups(open_now)
    shown = groups[:ENTRIES]
    rows = _rows(open_now, [key for key, _ in shown])
    totals = _totals(sites)
    entries = [_entry(key, count, rows[key], totals) for key, count in shown if rows[key]]
    return Attention(entries, len(groups) - len(shown))


def _groups(rows: QuerySet[Trouble]) -> list[tuple[Key, int]]:
    rank = Case(
        When(verdict=Verdict.FAILED, then=Value(0)),
        When(verdict=Verdict.INCONCLUSIVE, then=Value(1)),
        default=Value(2),
        output_field=IntegerField(),
    )
    found = (
        rows.order_by()
        .values("verdict", "slug", "signature", "cause")
        .annotate(rank=rank, count=Count("node", distinct=True), newest=Max("judged_at"))
        .order_by("rank", "-count", "-newest")
    )
    return [
        ((row["verdict"], row["slug"], row["signature"], row["cause"]), row["count"])
        for row in found[:1000]
    ]


def _rows(rows: QuerySet[Trouble], keys: Sequence[Key]) -> Mapping[Key, list[Trouble]]:
    """Return each node's newest trouble of each entry, of a bounded number of nodes.

    A node that was asked for less and for more has failed by the same reason twice.
    """
    place = Window(
        RowNumber(),
        partition_by=[F("verdict"), F("slug"), F("signature"), F("cause")],
        order_by=[F("judged_at").desc(), F("node").asc()],
    )
    wanted = {(slug, signature) for _, slug, signature, _ in keys}
    narrowed = rows.filter(
        slug__in={slug for slug, _ in wanted}, signature__in={each for _, each in wanted}
    )
    found: dict[Key, dict[int, Trouble]] = defaultdict(dict)
    numbered = narrowed.annotate(place=place).filter(place__lte=NODES_READ).order_by("place")
    for row in numbered.select_related("node__site", "node__resource_class"):
        key = row.verdict, row.slug, row.signature, row.cause
        found[key].setdefault(row.node_id, row)
    return {key: list(found[key].values()) for key in keys}


def _totals(sites: QuerySet[Site]) -> Mapping[tuple[int, int], int]:
    """Return how many nodes of each class each site has."""
    rows = Node.objects.filter(site__in=sites).order_by().values("site_id", "resource_class_id")
    return {
        (row["site_id"], row["resource_class_id"]): row["count"]
        for row in rows.annotate(count=Count("pk"))
    }


def _entry(
    key: Key, count: int, rows: list[Trouble], totals: Mapping[tuple[int, int], int]
) -> Entry:
    verdict, slug, _, cause = key
    nodes = [row.node for row in rows]
    return Entry(
        verdict=verdict,
        cause=cause,
        slug=slug,
        count=count,
        newest=rows[0],
        hosts=_hosts(nodes),
        shared=_shared(nodes, count, totals),
        is_whole=len(rows) == count,
    )


def _hosts(nodes: Sequence[Node]) -> str:
    """Return the nodes as host lists, one a site."""
    by_site: dict[str, list[str]] = defaultdict(list)
    for node in nodes:
        by_site[node.site.name].append(node.name)
    return "; ".join(f"{_folded(names)} at {site}" for site, names in sorted(by_site.items()))


def _folded(names: Sequence[str]) -> str:
    try:
        return fold(names)
    except BadHostList:
        return ", ".join(sorted(names))


def _shared(nodes: Sequence[Node], count: int, totals: Mapping[tuple[int, int], int]) -> str:
    """Say what the nodes have in common: of how many alike they are, and which class."""
    kinds = {(node.site_id, node.resource_class_id): node for node in nodes}
    if len(kinds) == 1:
        (key, node), *_ = kinds.items()
        return f"{count:,} of {totals.get(key, count):,} {node.resource_class.name} nodes"
    classes = sorted({node.resource_class.name for node in nodes})
    sites = {node.site_id for node in nodes}
    return f"{len(sites)} sites, {', '.join(classes)}" if len(sites) > 1 else ", ".join(classes)
