"""Who did what, where and why."""

from __future__ import annotations

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render

from burnin.dashboards.exports import Columns, export
from burnin.dashboards.filtered import rows_and_complaints
from burnin.models import AuditEntry
from burnin.selectors.audit import entries_for
from burnin.selectors.audit_filters import AuditFilter
from burnin.selectors.cursor import BadCursor, newest_first
from fleet.access import sites_of

ROWS_AT_ONCE = 500
_PAGES = {"job": "/jobs/{}/", "test run": "/runs/{}/"}


@login_required
def audit(request: HttpRequest) -> HttpResponseBase:
    filters = AuditFilter(request.GET, queryset=entries_for(request.user))
    rows, complaints = rows_and_complaints(filters)
    exported = export(request, "audit", COLUMNS, rows.order_by("-at", "-pk").iterator(ROWS_AT_ONCE))
    if exported is not None:
        return exported
    try:
        page = newest_first(rows, "at", request.GET.get("cursor"))
    except BadCursor as error:
        raise Http404(str(error)) from error
    context = {
        "page": page,
        "entries": [(each, page_of(each)) for each in page.rows],
        "complaints": complaints,
        "sites": list(sites_of(request.user).values_list("name", flat=True)),
        "is_filtered": any(request.GET.get(name) for name in AuditFilter.base_filters),
    }
    return render(request, "dashboards/audit.html", context)


def page_of(entry: AuditEntry) -> str:
    """Return the address of what was acted on; "" if it has no page."""
    pattern = _PAGES.get(entry.object_kind, "")
    return pattern.format(entry.object_id)


COLUMNS: Columns[AuditEntry] = {
    "at": lambda each: each.at,
    "user": lambda each: each.user_name,
    "token": lambda each: each.token,
    "action": lambda each: each.action,
    "kind": lambda each: each.object_kind,
    "id": lambda each: each.object_id,
    "object": lambda each: each.object_name,
    "site": lambda each: each.site.name if each.site else "",
    "reason": lambda each: each.reason,
}
