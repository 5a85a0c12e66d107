"""Classes of nodes, and who may come in. What burn-in acts on is in burnin/admin/."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from unfold.admin import ModelAdmin, TabularInline
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from fleet.admin_scope import ByRole
from fleet.hardware import STATED_PARTS
from fleet.models import ResourceClass, SiteAccess

admin.site.unregister(User)
admin.site.unregister(Group)  # the roles: `migrate` makes them, and others mean nothing


class ResourceClassForm(forms.ModelForm):
    """The parts are ticked, not typed."""

    parts = forms.MultipleChoiceField(
        choices=[(part.value, part.words) for part in STATED_PARTS],
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
        required=False,
        help_text=ResourceClass._meta.get_field("parts").help_text,
    )

    class Meta:
        model = ResourceClass
        fields = ("name", "description", "gpus_per_node", "gpu_maker", "parts")


@admin.register(ResourceClass)
class ResourceClassAdmin(ByRole):
    form = ResourceClassForm
    list_display = ("name", "description", "gpus_per_node", "gpu_maker", "node_count")
    search_fields = ("name",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[ResourceClass]:
        return super().get_queryset(request).annotate(node_count=Count("nodes"))

    @admin.display(description="nodes", ordering="node_count")
    def node_count(self, resource_class: Any) -> int:
        return int(resource_class.node_count)


class OnlySuperusers:
    """Who may come in, and where: an admin of one site must not let himself into another."""

    def has_module_permission(self, request: HttpRequest) -> bool:
        return _is_superuser(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return _is_superuser(request)

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return _is_superuser(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return _is_superuser(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return _is_superuser(request)


def _is_superuser(request: HttpRequest) -> bool:
    return bool(request.user.is_active and request.user.is_superuser)


class SiteAccessRows(OnlySuperusers, TabularInline):
    model = SiteAccess
    extra = 0
    verbose_name_plural = "sites that this user may see"


@admin.register(User)
class FleetUserAdmin(OnlySuperusers, UserAdmin, ModelAdmin):
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    inlines = (SiteAccessRows,)
    list_display = ("username", "roles", "sites", "is_staff", "is_active", "last_login")
    list_filter = ("groups", "is_staff", "is_superuser", "is_active")
    filter_horizontal = ()
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        ("Person", {"fields": ("first_name", "last_name", "email")}),
        (
            "What this user may do",
            {
                "fields": ("groups", "is_active", "is_staff", "is_superuser"),
                "description": "The highest group counts: viewer, operator, admin. Staff may use "
                "this administration; a superuser is an admin at every site.",
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        rows: QuerySet[User] = super().get_queryset(request)
        return rows.prefetch_related("groups", "site_access__site")

    @admin.display(description="groups")
    def roles(self, user: User) -> str:
        return ", ".join(group.name for group in user.groups.all()) or "–"

    @admin.display(description="sites")
    def sites(self, user: User) -> str:
        if user.is_superuser:
            return "every site"
        rows = user.site_access.all()
        return ", ".join(each.site.name if each.site else "every site" for each in rows) or "–"
