"""The admin: one door with the pages, open to staff with a role."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.contrib.admin import site
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from unfold.sites import UnfoldAdminSite

from fleet.access import role_of

# What the sidebar lists: title, symbol and model, by group.
_PLACES = (
    (
        "Fleet",
        (
            ("Sites", "hub", "fleet_site"),
            ("Nodes", "dns", "fleet_node"),
            ("Resource classes", "category", "fleet_resourceclass"),
            ("Hardware operations", "build", "fleet_hardwareoperation"),
        ),
    ),
    (
        "Burn-in",
        (
            ("Jobs", "play_circle", "burnin_job"),
            ("Runs", "checklist", "burnin_testrun"),
            ("Results", "fact_check", "burnin_testresult"),
            ("Presets", "list_alt", "burnin_preset"),
            ("Limits", "straighten", "burnin_thresholdversion"),
        ),
    ),
    (
        "Who may come in",
        (
            ("Users", "person", "auth_user"),
            ("Site tokens", "vpn_key", "fleet_sitetoken"),
            ("API tokens", "key", "fleet_apitoken"),
        ),
    ),
)


def navigation(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the sidebar: what this user may see."""
    shown = {
        f"{model._meta.app_label}_{model._meta.model_name}"
        for model, place in site._registry.items()
        if place.has_view_permission(request)
    }
    groups = [
        {
            "title": title,
            "items": [
                {"title": word, "icon": symbol, "link": reverse(f"admin:{model}_changelist")}
                for word, symbol, model in places
                if model in shown
            ],
        }
        for title, places in _PLACES
    ]
    return [group for group in groups if group["items"]]


class FleetAdminSite(UnfoldAdminSite):
    def has_permission(self, request: HttpRequest) -> bool:
        return super().has_permission(request) and role_of(request.user) is not None

    def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Send strangers to the door of the pages; tell who is in already why not."""
        if request.user.is_authenticated:
            if self.has_permission(request):
                return HttpResponseRedirect(reverse("admin:index"))
            raise PermissionDenied(
                "The administration is for staff with a role: ask an admin for both."
            )
        asked = request.GET.get("next") or reverse("admin:index")
        return redirect_to_login(asked, settings.LOGIN_URL)
