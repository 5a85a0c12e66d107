"""Start a job: say what and where, see what would be sent, then send it."""

from __future__ import annotations

import math
import uuid
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from burnin.dashboards.start_defaults import preset_to_offer, site_choices, site_to_offer
from burnin.dashboards.start_form import FILTER, HOSTLIST, StartForm, presets_to_choose
from burnin.models import Preset
from burnin.models.audit import Actor
from burnin.models.signature import signature
from burnin.runner_bundle import BrokenBundle, UnprovenBundle
from burnin.selectors.job_times import expected_node_seconds
from burnin.selectors.nodes import Place
from burnin.workflow import wiring
from burnin.workflow.plan import PlanRefused, plan_job
from burnin.workflow.preview import LeftOut, Preview, preview_job
from fleet.access import sites_operated_by
from fleet.models import ResourceClass

ASKED = ("preset", "site", "by", "hosts", "resource_class", "place")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def start(request: HttpRequest) -> HttpResponse:
    if not sites_operated_by(request.user).exists():
        raise PermissionDenied("Only an operator may start jobs: ask an admin for the role.")
    if request.method == "POST":
        return _start(request)
    if not request.GET.get("preset"):
        return _page(request, None, None, "", status=200)
    form = StartForm(request.GET, user=request.user)
    preview, refusal = _preview(request, form)
    return _page(request, form, preview, refusal, status=200)


def _start(request: HttpRequest) -> HttpResponse:
    form = StartForm(request.POST, user=request.user)
    if not form.is_valid():
        return _page(request, form, None, "", status=400)
    try:
        job = plan_job(
            form.request_of(Actor.of(request.user)),
            store=wiring.store(),
            bells=wiring.bells(),
            now=timezone.now(),
        )
    except PlanRefused as error:
        preview, _ = _preview(request, form)
        return _page(request, form, preview, str(error), status=409)
    messages.success(request, "The job is on its way.")
    return redirect("dashboards:job", job.pk)


def _preview(request: HttpRequest, form: StartForm) -> tuple[Preview | None, str]:
    """Return what would be sent, or one sentence why nothing can be."""
    if not form.is_valid():
        return None, ""
    asked = form.request_of(Actor.of(request.user))
    try:
        return preview_job(asked, bundle=wiring.hub_bundle(), now=timezone.now()), ""
    except (PlanRefused, BrokenBundle, UnprovenBundle) as error:
        return None, str(error)


def _page(
    request: HttpRequest,
    form: StartForm | None,
    preview: Preview | None,
    refusal: str,
    *,
    status: int,
) -> HttpResponse:
    said = form.data if form else request.GET
    presets = list(presets_to_choose())
    sites = site_choices(sites_operated_by(request.user), timezone.now())
    site = said.get("site") or site_to_offer(sites)
    context = {
        "said": said,
        "by": FILTER if said.get("by") == FILTER else HOSTLIST,
        "errors": {name: each[0] for name, each in form.errors.items()} if form else {},
        "presets": presets,
        "preset": said.get("preset") or preset_to_offer(presets, site),
        "sites": sites,
        "site": site,
        "classes": ResourceClass.objects.all(),
        "standings": Place.choices,
        "preview": preview,
        "refusal": refusal or (preview.closed_because if preview else ""),
        "hidden": [(name, said[name]) for name in ASKED if said.get(name)],
        "key": said.get("key") or uuid.uuid4(),
        **(_figures(preview, form.cleaned_data["preset"]) if form and preview else {}),
    }
    return render(request, "dashboards/start.html", context, status=status)


def _figures(preview: Preview, preset: Preset) -> dict[str, Any]:
    """Return what the dry run says in numbers; what was never measured is left out."""
    node_s = expected_node_seconds(preset)
    site, usable = preview.site, len(preview.usable)
    waves = math.ceil(usable / min(usable, site.max_in_flight)) if usable else 0
    return {
        "node_s": node_s,
        "all_s": node_s * waves if node_s is not None else None,
        "node_hours": node_s * usable / 3600 if node_s is not None else None,
        "counts": {"running": usable, "skipped": len(preview.left_out)},
        "left_out": _alike(preview.left_out),
    }


def _alike(left_out: tuple[LeftOut, ...]) -> list[tuple[list[str], str]]:
    """Return nodes that are left out for one reason together."""
    groups: dict[str, tuple[list[str], str]] = {}
    for each in left_out:
        key = signature(each.reason, (each.node.name,))
        reason = each.reason.removeprefix(f"{each.node.name} ")
        groups.setdefault(key, ([], reason))[0].append(each.node.name)
    return sorted(groups.values(), key=lambda group: len(group[0]), reverse=True)
