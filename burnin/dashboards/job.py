"""One job: its stages, why nodes did not pass, why runs wait, and every node against every test."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone

from burnin.dashboards import matrix_cells
from burnin.dashboards.asks import asks_of
from burnin.dashboards.exports import export
from burnin.dashboards.filtered import rows_and_complaints
from burnin.dashboards.live import fragment
from burnin.dashboards.reach import seen_job
from burnin.models import Job, JobNode
from burnin.models.job import JobState
from burnin.selectors import matrix
from burnin.selectors.job_counts import node_counts, stage_counts
from burnin.selectors.job_times import ends_at
from burnin.selectors.job_trouble import trouble_of
from burnin.selectors.job_waiting import waiting_of
from burnin.selectors.jobs import origin_of
from burnin.selectors.matrix_filters import SORTS, STANDINGS, MatrixFilter
from fleet.access import may_operate
from fleet.models import ResourceClass

NODES_A_PAGE = 40


@login_required
def job(request: HttpRequest, job_id: uuid.UUID) -> HttpResponseBase:
    shown = seen_job(request, job_id)
    is_final = shown.state == JobState.DONE
    match request.GET.get("part"):
        case "state":
            template = "dashboards/fragments/job_state.html"
            return fragment(request, template, _state(request, shown), is_final=is_final)
        case "matrix":
            template = "dashboards/fragments/matrix.html"
            return fragment(request, template, _matrix(request, shown), is_final=is_final)
    exported = _matrix_export(request, shown)
    if exported is not None:
        return exported
    context = {**_state(request, shown), **_matrix(request, shown), **_choices(shown)}
    return render(request, "dashboards/job.html", {**context, "asks": asks_of(shown)})


def _state(request: HttpRequest, shown: Job) -> dict[str, Any]:
    """Return what stands above the matrix."""
    counts = node_counts(shown)
    return {
        "job": shown,
        "origin": origin_of(shown),
        "counts": counts,
        "stages": stage_counts(shown),
        "ends_at": ends_at([shown], timezone.now()).get(shown.pk),
        "trouble": trouble_of(shown),
        "waiting": waiting_of(shown),
        "is_done": shown.state == JobState.DONE,
        "may_act": may_operate(request.user, shown.site),
    }


def _matrix(request: HttpRequest, shown: Job) -> dict[str, Any]:
    """Return a page of nodes with their cells."""
    rows, complaints = rows_and_complaints(_filter(request, shown))
    page = _page(rows, request.GET.get("page"), None if _narrows(request) else shown.node_count)
    columns = matrix.columns_of(shown)
    cells = matrix_cells.CellMaker(columns, timezone.now())
    return {
        "job": shown,
        "page": page,
        "complaints": complaints,
        "columns": [(each, matrix_cells.limit_text(each.limit)) for each in columns],
        "rows": [
            (row.member, matrix_cells.worst_text(row.member), cells.row(row))
            for row in matrix.rows_of(shown, list(page), columns)
        ],
        "is_grouped": request.GET.get("sort") == "class",
    }


def _choices(shown: Job) -> dict[str, Any]:
    steps = shown.steps
    classes = {name for step in steps for name in step.get("thresholds", {})}
    return {
        "sorts": SORTS,
        "standings": STANDINGS,
        "classes": sorted(classes) or list(ResourceClass.objects.values_list("name", flat=True)),
    }


def _filter(request: HttpRequest, shown: Job) -> MatrixFilter:
    members = JobNode.objects.filter(job=shown).select_related("node__resource_class")
    return MatrixFilter(request.GET, queryset=members)


def _narrows(request: HttpRequest) -> bool:
    return any(request.GET.get(name) for name in ("verdict", "resource_class", "nodes"))


def _page(rows: QuerySet[JobNode], number: str | None, known_count: int | None) -> Page[JobNode]:
    pages = Paginator(rows, NODES_A_PAGE)
    if known_count is not None:
        pages.count = known_count
    return pages.get_page(number)


def _matrix_export(request: HttpRequest, shown: Job) -> HttpResponseBase | None:
    rows, _ = rows_and_complaints(_filter(request, shown))
    columns = matrix.columns_of(shown)
    every: Iterable[matrix.Row] = matrix.every_row(shown, rows, columns)
    return export(request, f"matrix-{shown.pk}", _export_columns(columns), every)


Read = Callable[[matrix.Row], object]


def _export_columns(columns: list[matrix.Column]) -> dict[str, Read]:
    """Return the node's own columns, then verdict, value, unit and run of each step."""
    found: dict[str, Read] = {
        "node": lambda row: row.member.node.name,
        "class": lambda row: row.member.node.resource_class.name,
        "worst": lambda row: row.member.worst,
        "left_because": lambda row: row.member.left_because,
    }
    for place, column in enumerate(columns):
        for name in ("verdict", "value", "unit", "attempt", "moved_at", "run_id"):
            found[f"{column.step} {column.slug} {name}"] = _reader(place, name)
    return found


def _reader(place: int, name: str) -> Read:
    def read(row: matrix.Row) -> object:
        cell = row.cells[place]
        if cell is None:
            return None
        return cell.verdict or cell.state if name == "verdict" else getattr(cell, name)

    return read
