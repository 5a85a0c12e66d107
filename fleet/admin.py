"""The inventory, for operators."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from fleet.models import Node, ResourceClass, Site, SiteToken


@admin.register(ResourceClass)
class ResourceClassAdmin(admin.ModelAdmin):
    list_display = ("name", "description", "node_count")
    search_fields = ("name",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ResourceClass]:
        return super().get_queryset(request).annotate(node_count=Count("nodes"))

    @admin.display(description="nodes", ordering="node_count")
    def node_count(self, resource_class: Any) -> int:
        return int(resource_class.node_count)


@admin.register(Site)
class SiteAdmin(admin.ModelAdmin):
    list_display = (
        "name",
        "partition",
        "is_enabled",
        "can_take_jobs",
        "checked_at",
        "heartbeat_at",
    )
    search_fields = ("name",)
    readonly_fields = ("capabilities", "checked_at", "heartbeat_at", "reach")
    actions = ("issue_token",)

    @admin.display(description="checked", boolean=True)
    def can_take_jobs(self, site: Site) -> bool:
        return site.is_checked

    @admin.action(description="Issue a token for the site's satellite", permissions=["change"])
    def issue_token(self, request: HttpRequest, sites: QuerySet[Site]) -> HttpResponse | None:
        if sites.count() != 1:
            self.message_user(request, "Choose one site: a token is one site's.", messages.ERROR)
            return None
        site = sites.get()
        context = {
            **self.admin_site.each_context(request),
            "title": f"A token for {site}",
            "site_name": site.name,
            "token": SiteToken.issue(site),
        }
        # The list's own view forbids every cache to keep what it answers.
        return TemplateResponse(request, "admin/fleet/token_issued.html", context)


@admin.register(SiteToken)
class SiteTokenAdmin(admin.ModelAdmin):
    """Issued from the list of sites; here they are seen and revoked, never read or changed."""

    list_display = ("prefix", "site", "created_at", "used_at", "revoked_at")
    list_select_related = ("site",)
    list_filter = ("site",)
    exclude = ("digest",)
    actions = ("revoke",)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: SiteToken | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: SiteToken | None = None) -> bool:
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("fleet.change_sitetoken"))

    @admin.action(description="Revoke the selected tokens", permissions=["revoke"])
    def revoke(self, request: HttpRequest, tokens: QuerySet[SiteToken]) -> None:
        for token in tokens:
            token.revoke(timezone.now())
        self.message_user(request, "Revoked. A satellite that still uses one is refused from now.")


@admin.register(Node)
class NodeAdmin(admin.ModelAdmin):
    list_display = (
        "name",
        "site",
        "resource_class",
        "slurm_state",
        "is_usable",
        "excluded_because",
    )
    list_select_related = ("site", "resource_class")
    list_filter = ("site", "resource_class", "is_usable")
    search_fields = ("name", "dmi_serial")
    show_full_result_count = False
    readonly_fields = ("slurm_state", "slurm_reason", "is_usable", "seen_at")
