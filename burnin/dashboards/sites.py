"""Sites: whether each answers, what it can do, and asking it to prove that."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from burnin.dashboards.exports import export
from burnin.dashboards.live import fragment
from burnin.dashboards.reach import require_operator
from burnin.models.audit import Actor
from burnin.selectors.sites import listed_sites, site_page
from burnin.storage.store import StoreRefused, StoreUnreachable
from burnin.workflow import site_check, wiring
from burnin.workflow.site_check import CheckRefused
from burnin.workflow.site_queue import QueueUnreachable
from burnin.workflow.sites import why_closed
from fleet.access import may_operate, sites_of
from fleet.models import Site


@login_required
def sites(request: HttpRequest) -> HttpResponseBase:
    listed = listed_sites(sites_of(request.user), timezone.now())
    exported = export(request, "sites", COLUMNS, listed)
    if exported is not None:
        return exported
    context = {"sites": listed}
    if request.GET.get("part") == "sites":
        return fragment(request, "dashboards/fragments/sites.html", context)
    return render(request, "dashboards/sites.html", context)


@login_required
def site(request: HttpRequest, name: str) -> HttpResponse:
    return _page(request, seen_site(request, name), "", status=200)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def check(request: HttpRequest, name: str) -> HttpResponse:
    """Have the site prove what it can do; what it finds shows on its page, as does a refusal."""
    shown, now = seen_site(request, name), timezone.now()
    if request.method != "POST":  # the address of a refusal, opened again
        return redirect("dashboards:site", shown.name)
    require_operator(request, shown)
    assert isinstance(request.user, User)  # `login_required` lets nobody else in
    by, store, queue = Actor.of(request.user), wiring.store(), wiring.site_queue()
    try:
        site_check.ask_by(by, shown, store=store, queue=queue, now=now)
    except CheckRefused as error:
        return _page(request, shown, str(error), status=409)
    except (QueueUnreachable, StoreUnreachable, StoreRefused) as error:
        return _page(request, shown, str(error), status=503)
    messages.success(request, f"{shown.name} is being checked: what it finds shows here.")
    return redirect("dashboards:site", shown.name)


def _page(request: HttpRequest, shown: Site, refusal: str, *, status: int) -> HttpResponse:
    now = timezone.now()
    context = {
        "page": site_page(shown, now),
        "site": shown,
        "closed": why_closed(shown, now),
        "may_act": may_operate(request.user, shown),
        "refusal": refusal,
    }
    if request.GET.get("part") == "site":
        return fragment(request, "dashboards/fragments/site.html", context)
    return render(request, "dashboards/site.html", context, status=status)


def seen_site(request: HttpRequest, name: str) -> Site:
    """Return the site if the visitor may see it; else it is not there."""
    found = sites_of(request.user).filter(name=name).first()
    if found is None:
        raise Http404("there is no such site that you may see")
    return found


COLUMNS: Mapping[str, Any] = {
    "site": lambda each: each.site.name,
    "health": lambda each: each.health.state,
    "words": lambda each: each.health.words,
    "heard_at": lambda each: each.health.heard_at,
    "checked_at": lambda each: each.site.checked_at,
    "partition": lambda each: each.site.partition,
    "nodes": lambda each: each.total,
    "accepted": lambda each: each.counts["accepted"],
    "failing": lambda each: each.counts["failing"],
    "suspect": lambda each: each.counts["suspect"],
    "running": lambda each: each.counts["running"],
    "waiting": lambda each: each.counts["waiting"],
    "untested": lambda each: each.counts["untested"],
    "stale": lambda each: each.counts["stale"],
    "skipped": lambda each: each.counts["skipped"],
}
