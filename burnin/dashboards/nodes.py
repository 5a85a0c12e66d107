"""Every node, and where it stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone

from burnin.dashboards.exports import export
from burnin.dashboards.filtered import rows_and_complaints
from burnin.dashboards.live import fragment
from burnin.selectors.nodes import Place, nodes_at, why
from burnin.selectors.nodes_filters import NodeFilter
from fleet.access import sites_of
from fleet.models import Node, ResourceClass

NODES_A_PAGE = 100
ROWS_AT_ONCE = 1000


@login_required
def nodes(request: HttpRequest) -> HttpResponseBase:
    sites = sites_of(request.user)
    every = nodes_at(sites, timezone.now()).order_by("site__name", "name")
    rows, complaints = rows_and_complaints(NodeFilter(request.GET, queryset=every))
    exported = export(request, "nodes", COLUMNS, rows.iterator(ROWS_AT_ONCE))
    if exported is not None:
        return exported
    page = Paginator(rows, NODES_A_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "nodes": [(each, why(each)) for each in page],
        "complaints": complaints,
        "is_filtered": any(request.GET.get(name) for name in NodeFilter.base_filters),
    }
    if request.GET.get("part") == "nodes":
        return fragment(request, "dashboards/fragments/nodes.html", context)
    choices = {
        "site_names": list(sites.order_by("name").values_list("name", flat=True)),
        "classes": list(ResourceClass.objects.values_list("name", flat=True)),
        "place_choices": Place.choices,
        "chosen": set(request.GET.getlist("place")),
    }
    return render(request, "dashboards/nodes.html", {**context, **choices})


def _of_standing(name: str, node: Node) -> object:
    return getattr(getattr(node, "standing", None), name, None)


COLUMNS: Mapping[str, Any] = {
    "site": lambda each: each.site.name,
    "node": lambda each: each.name,
    "class": lambda each: each.resource_class.name,
    "stands": lambda each: each.place,
    "why": why,
    "since": lambda each: _of_standing("since", each),
    "passed": lambda each: _of_standing("passed", each),
    "required": lambda each: _of_standing("required", each),
    "serial": lambda each: each.dmi_serial,
    "machine_id": lambda each: each.machine_id,
    "slurm_state": lambda each: each.slurm_state,
    "slurm_reason": lambda each: each.slurm_reason,
    "seen_at": lambda each: each.seen_at,
    "excluded_because": lambda each: each.excluded_because,
}
