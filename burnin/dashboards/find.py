"""The search field: a node, a job or a run by its name or id, and straight to its page."""

from __future__ import annotations

import uuid
from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from burnin.models import Job, TestRun
from fleet.access import sites_of
from fleet.models import Node, Site

SHORTEST_ID = 4


@login_required
def find(request: HttpRequest) -> HttpResponse:
    """Redirect to the one thing that is meant, else to the nodes whose name holds the words."""
    words = request.GET.get("q", "").strip()[:255]
    sites = sites_of(request.user)
    page = _node(words, sites) or _by_id(words, sites)
    if page is None and not Node.objects.filter(site__in=sites, name__icontains=words).exists():
        messages.error(request, f"No node, job or run is called {words!r:.80}.")
        return HttpResponseRedirect("/nodes/")
    return HttpResponseRedirect(page or f"/nodes/?{urlencode({'q': words})}")


def _node(name: str, sites: QuerySet[Site]) -> str | None:
    found = Node.objects.filter(site__in=sites, name=name).select_related("site")[:2]
    return f"/nodes/{found[0].site.name}/{found[0].name}/" if len(found) == 1 else None


def _by_id(words: str, sites: QuerySet[Site]) -> str | None:
    """Return the page of a job or run whose id begins with these characters."""
    span = _ids_from(words)
    if span is None:
        return None
    if job := Job.objects.filter(site__in=sites, pk__range=span).values_list("pk").first():
        return f"/jobs/{job[0]}/"
    if run := TestRun.objects.filter(site__in=sites, pk__range=span).values_list("pk").first():
        return f"/runs/{run[0]}/"
    return None


def _ids_from(words: str) -> tuple[uuid.UUID, uuid.UUID] | None:
    """Return the first and the last id that begin like this; None if none can."""
    digits = words.lower().replace("-", "")
    if not SHORTEST_ID <= len(digits) <= 32 or not set(digits) <= set("0123456789abcdef"):
        return None
    return uuid.UUID(digits.ljust(32, "0")), uuid.UUID(digits.ljust(32, "f"))
