"""What every list and form of the admin obeys: roles, and the sites that a user may see."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import ForeignKey, QuerySet
from django.forms import ModelChoiceField
from django.http import Http404, HttpRequest, HttpResponse
from unfold.admin import ModelAdmin, TabularInline

from fleet.access import Role, role_of, sites_of, sites_operated_by
from fleet.models import Node, Site

ROLES = list(Role)


def role_here(request: HttpRequest) -> Role | None:
    """Return the user's role; asked of the database once a request."""
    if not hasattr(request, "fleet_role"):
        request.fleet_role = role_of(request.user)  # type: ignore[attr-defined]
    role: Role | None = request.fleet_role  # type: ignore[attr-defined]
    return role


def is_at_least(request: HttpRequest, role: Role) -> bool:
    own = role_here(request)
    return own is not None and ROLES.index(own) >= ROLES.index(role)


class ByRole(ModelAdmin):
    """A model that everybody with a role sees, at their sites, and that `edited_by` edits.

    `site_path` is the way to the row's site; "" if it belongs to none, "pk" if it is one.
    `edited_by` None: nobody edits it here.
    """

    site_path: ClassVar[str] = ""
    seen_by: ClassVar[Role] = Role.VIEWER
    edited_by: ClassVar[Role | None] = Role.ADMIN
    list_filter_submit = False
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        rows: QuerySet[Any] = super().get_queryset(request)
        return self.within_reach(rows, sites_of(request.user))

    def within_reach(self, rows: QuerySet[Any], sites: QuerySet[Site]) -> QuerySet[Any]:
        return rows.filter(**{f"{self.site_path}__in": sites}) if self.site_path else rows

    def operated(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        """Return those of the rows where the user may start, cancel and report."""
        return self.within_reach(rows, sites_operated_by(request.user))

    # Roles, not Django's permissions: pages and REST ask the same.

    def has_module_permission(self, request: HttpRequest) -> bool:
        return is_at_least(request, self.seen_by)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_at_least(request, self.seen_by)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.edited_by is not None and is_at_least(request, self.edited_by)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.has_change_permission(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_change_permission(request)

    def has_operate_permission(self, request: HttpRequest) -> bool:
        return is_at_least(request, Role.OPERATOR)

    def has_administer_permission(self, request: HttpRequest) -> bool:
        return is_at_least(request, Role.ADMIN)

    def formfield_for_foreignkey(
        self, db_field: ForeignKey[Any, Any], request: HttpRequest, **kwargs: Any
    ) -> ModelChoiceField | None:
        """Offer, and take, nothing of a site that the user may not see."""
        sites = sites_of(request.user)
        if db_field.related_model is Site:
            kwargs["queryset"] = sites
        elif db_field.related_model is Node:
            kwargs["queryset"] = Node.objects.filter(site__in=sites)
        found: ModelChoiceField | None = super().formfield_for_foreignkey(
            db_field, request, **kwargs
        )
        return found

    def _get_obj_does_not_exist_redirect(
        self, request: HttpRequest, opts: Any, object_id: str
    ) -> HttpResponse:
        raise Http404(f"there is no {opts.verbose_name} {object_id:.80} that you may see")


class ReadRows(TabularInline):
    """Rows below another that only the workflow writes; whoever sees the other sees them."""

    extra = 0
    can_delete = False

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_at_least(request, Role.VIEWER)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class EditRows(TabularInline):
    """Rows below another that an admin edits with it."""

    extra = 0

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_at_least(request, Role.VIEWER)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_at_least(request, Role.ADMIN)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_at_least(request, Role.ADMIN)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return is_at_least(request, Role.ADMIN)


class SiteFilter(admin.RelatedFieldListFilter):
    """A filter by site that names only those which the user may see."""

    def field_choices(
        self, field: Any, request: HttpRequest, model_admin: admin.ModelAdmin
    ) -> list[Any]:
        names = sites_of(request.user).values_list("pk", "name")
        return [(str(pk), name) for pk, name in names]
