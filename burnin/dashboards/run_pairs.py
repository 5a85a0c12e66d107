"""What a run measured between its nodes: a panel of the run's page, and an export."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.urls import reverse

from burnin.dashboards.exports import Columns, export
from burnin.dashboards.filtered import rows_and_complaints
from burnin.dashboards.reach import seen_run
from burnin.models import PairMetric
from burnin.selectors.pairs import (
    Link,
    heat_of,
    link_of,
    links_of,
    look_of,
    metrics_with_pairs,
    pairs_of,
)
from burnin.selectors.pairs_filters import PairFilter
from burnin.selectors.run import RunPage, ShownMetric

ROWS_AT_ONCE = 500
LINKS_A_PAGE = 20
HEAT_NODES = range(3, 17)  # two are two numbers, and more do not fit a page


@dataclass(frozen=True)
class Pairs:
    """The links by one metric, a page of them. `heat` is empty for too few or many nodes."""

    metrics: Sequence[ShownMetric]
    metric: ShownMetric
    page: Page[Any]
    links: Sequence[Link]
    heat: Sequence[tuple[str, Sequence[tuple[ShownMetric | None, str]]]]


def pairs_shown(request: HttpRequest, page: RunPage) -> Pairs | None:
    """Return the links as the address asks for them; None for a run without pairs."""
    metrics = metrics_with_pairs(page.result, page.metrics) if page.result else []
    if page.result is None or not metrics:
        return None
    asked = request.GET.get("metric")
    metric = next((each for each in metrics if each.name == asked), _most_telling(metrics))
    nodes = {node.pk: node for node in page.nodes}
    rows = Paginator(links_of(page.result, metric), LINKS_A_PAGE)
    shown = rows.get_page(request.GET.get("page"))
    is_small = len(nodes) in HEAT_NODES
    heat = heat_of(page.result, metric, page.nodes) if is_small else []
    return Pairs(
        metrics,
        metric,
        shown,
        [link_of(row, metric, nodes) for row in shown],
        [(name, [(cell, look_of(cell) if cell else "") for cell in row]) for name, row in heat],
    )


@login_required
def pairs(request: HttpRequest, run_id: uuid.UUID) -> HttpResponseBase:
    """Export every direction of every link; the page of them is that of the run."""
    run = seen_run(request, run_id)
    rows, _ = rows_and_complaints(PairFilter(request.GET, queryset=pairs_of(run).order_by("pk")))
    exported = export(request, f"pairs-{run.pk}", PAIR_COLUMNS, rows.iterator(ROWS_AT_ONCE))
    return exported or HttpResponseRedirect(reverse("dashboards:run", args=[run.pk]))


def _most_telling(metrics: Sequence[ShownMetric]) -> ShownMetric:
    """Return the first metric whose gate does not hold, else the first that a gate asked."""
    failed = [each for each in metrics if each.passed is False]
    gated = [each for each in metrics if each.passed is not None]
    return (failed or gated or list(metrics))[0]


PAIR_COLUMNS: Columns[PairMetric] = {
    "source": lambda row: row.source.name,
    "target": lambda row: row.target.name,
    "link": lambda row: row.link,
    "metric": lambda row: row.name,
    "value": lambda row: row.value,
}
