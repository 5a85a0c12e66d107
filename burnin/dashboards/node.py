"""One node: may it take customers, on what evidence, and what was done to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone

from burnin.dashboards.exports import export
from burnin.dashboards.live import fragment
from burnin.dashboards.trend_plot import trend_plot
from burnin.dashboards.wording import number
from burnin.hardware_tests.stale_operations import load_stale_operations
from burnin.selectors import node as of_node
from burnin.selectors.cursor import BadCursor, newest_first
from burnin.selectors.job_counts import shown_as
from burnin.selectors.nodes import visible_node, why
from burnin.workflow.nodes import seen_identity
from fleet.access import may_operate, sites_of
from fleet.models import Node

HISTORY_A_PAGE = 25
ROWS_AT_ONCE = 1000


@login_required
def node(request: HttpRequest, site: str, name: str) -> HttpResponseBase:
    now = timezone.now()
    shown = seen_node(request, site, name, now)
    history = of_node.history_of(shown)
    newest = history.order_by("-moved_at", "-pk")
    exported = export(request, shown.name, HISTORY_COLUMNS, newest.iterator(ROWS_AT_ONCE))
    if exported is not None:
        return exported
    context = _state(request, shown, now)
    if request.GET.get("part") == "state":
        return fragment(request, "dashboards/fragments/node_state.html", context)
    try:
        page = newest_first(history, "moved_at", request.GET.get("cursor"), size=HISTORY_A_PAGE)
    except BadCursor as error:
        raise Http404(str(error)) from error
    return render(
        request,
        "dashboards/node.html",
        {**context, **_trend(request, shown, context["shown"]), "page": page},
    )


def seen_node(request: HttpRequest, site: str, name: str, now: datetime) -> Node:
    """Return the node if the visitor may see it; else it is not there."""
    found = visible_node(site, name, sites_of(request.user), now)
    if found is None:
        raise Http404("there is no such node at a site that you may see")
    return found


def _state(request: HttpRequest, node: Node, now: datetime) -> dict[str, Any]:
    shown = of_node.shown_of(node, now)
    required = [each for each in shown if each.is_required]
    known = load_stale_operations()
    return {
        "node": node,
        "place": vars(node)["place"],
        "why": why(node),
        "required": required,
        "others": [each for each in shown if not each.is_required],
        "shown": shown,
        "sums": Counter(each.state for each in required),
        "runs": [(each, shown_as(each.state)) for each in of_node.live_runs(node)],
        "operations": [
            (each, len(known[each.operation].stales) if each.operation in known else None)
            for each in of_node.operations_of(node)
        ],
        "said": seen_identity(node),
        "is_recognised": bool(node.dmi_serial or node.machine_id or node.gpu_uuids),
        "may_act": may_operate(request.user, node.site),
        "adds_up": " + ".join(
            f"{number(count)} {state}"
            for state, count in Counter(each.state for each in required).items()
        ),
    }


def _trend(request: HttpRequest, node: Node, shown: list[of_node.Shown]) -> dict[str, Any]:
    choices = of_node.trend_choices(shown)
    asked = request.GET.get("metric", "")
    slug, _, name = asked.partition(":")
    if not asked:
        slug, name = of_node.trend_to_open(shown, choices)
    trend = of_node.trend_of(node, slug, name) if slug and name else None
    return {
        "metric_choices": [
            (f"{each_slug}:{each_name}", f"{each_slug}: {label}")
            for each_slug, each_name, label in choices
        ],
        "metric": f"{slug}:{name}",
        "trend": trend,
        "plot": trend_plot(trend) if trend else None,
    }


HISTORY_COLUMNS: Mapping[str, Any] = {
    "at": lambda each: each.moved_at,
    "test": lambda each: each.slug,
    "verdict": lambda each: each.verdict,
    "cause": lambda each: each.cause,
    "reason": lambda each: each.reason,
    "attempts": lambda each: each.attempt_number,
    "run": lambda each: str(each.pk),
    "job": lambda each: str(each.job_id),
}
