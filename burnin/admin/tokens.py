"""Tokens of sites and of users: seen and revoked here, never read or changed."""

from __future__ import annotations

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from burnin.admin.asking import Question, ask_then
from burnin.models.audit import Actor
from burnin.workflow.site_tokens import revoke_site_token
from burnin.workflow.tokens import revoke_token
from fleet.access import Role
from fleet.admin_scope import ByRole, SiteFilter
from fleet.models import ApiToken, SiteToken

REVOKED = "revoked: whoever shows it is refused"


@admin.register(SiteToken)
class SiteTokenAdmin(ByRole):
    """Issued from the list of sites."""

    site_path, seen_by, edited_by = "site", Role.ADMIN, None
    list_display = ("prefix", "site", "created_at", "used_at", "revoked_at")
    list_select_related = ("site",)
    list_filter = (("site", SiteFilter),)
    exclude = ("digest",)
    actions = ("revoke",)

    @admin.action(description="Revoke the selected tokens", permissions=["administer"])
    def revoke(self, request: HttpRequest, tokens: QuerySet[SiteToken]) -> HttpResponse | None:
        question = Question(
            "revoke",
            "Revoke tokens of sites",
            "A satellite that still shows one is refused from now on: its facts wait there.",
            "Revoke",
        )

        def done(token: SiteToken, reason: str) -> str:
            by, now = Actor.of(request.user), timezone.now()
            revoke_site_token(token, by=by, reason=reason, now=now)
            return REVOKED

        return ask_then(self, request, question, tokens.select_related("site"), done)


@admin.register(ApiToken)
class ApiTokenAdmin(ByRole):
    """Issued by their users at /account/tokens. A superuser sees and revokes those of others."""

    seen_by, edited_by = Role.VIEWER, None
    list_display = ("prefix", "name", "user", "scopes", "expires_at", "used_at", "revoked_at")
    list_select_related = ("user",)
    exclude = ("digest",)
    actions = ("revoke",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ApiToken]:
        rows: QuerySet[ApiToken] = super().get_queryset(request)
        own = rows.filter(user__username=request.user.get_username())
        return rows if request.user.is_superuser else own

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    @admin.action(description="Revoke the selected tokens", permissions=["revoke"])
    def revoke(self, request: HttpRequest, tokens: QuerySet[ApiToken]) -> HttpResponse | None:
        question = Question(
            "revoke",
            "Revoke tokens",
            "Whoever uses one is refused from then on. It cannot be taken back.",
            "Revoke",
        )

        def done(token: ApiToken, reason: str) -> str:
            revoke_token(token, by=Actor.of(request.user), reason=reason, now=timezone.now())
            return REVOKED

        return ask_then(self, request, question, tokens.select_related("user"), done)
