"""Sites, as the hub knows them."""

from __future__ import annotations

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone

from burnin.models.audit import Actor
from burnin.workflow.site_tokens import issue_site_token
from fleet.access import Role, sites_of
from fleet.admin_scope import ByRole, is_at_least
from fleet.models import Site


@admin.register(Site)
class SiteAdmin(ByRole):
    site_path = "pk"
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

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Let in who sees every site: whoever adds one would not see it otherwise."""
        return is_at_least(request, Role.ADMIN) and not (
            Site.objects.exclude(pk__in=sites_of(request.user)).exists()
        )

    @admin.display(description="checked", boolean=True)
    def can_take_jobs(self, site: Site) -> bool:
        return site.is_checked

    @admin.action(description="Issue a token for the site's satellite", permissions=["administer"])
    def issue_token(self, request: HttpRequest, sites: QuerySet[Site]) -> HttpResponse | None:
        if sites.count() != 1:
            self.message_user(request, "Choose one site: a token is one site's.", messages.ERROR)
            return None
        site = sites.get()
        context = {
            **self.admin_site.each_context(request),
            "title": f"A token for {site}",
            "site_name": site.name,
            "token": issue_site_token(site, by=Actor.of(request.user), now=timezone.now()),
        }
        # The list's own view forbids every cache to keep what it answers.
        return TemplateResponse(request, "admin/fleet/token_issued.html", context)
