"""Versions of limits: seen here, compared and edited on their own page."""

from __future__ import annotations

from django.contrib import admin
from django.urls import reverse
from django.utils.html import format_html

from burnin.admin.runs import TestFilter
from burnin.models import ThresholdVersion
from fleet.admin_scope import ByRole


@admin.register(ThresholdVersion)
class ThresholdVersionAdmin(ByRole):
    """A version is never changed, here or elsewhere: an edit makes another."""

    edited_by = None
    list_display = (
        "slug",
        "resource_class",
        "label",
        "created_at",
        "created_by",
        "reason",
        "history",
        "edit",
    )
    list_select_related = ("resource_class", "created_by")
    list_filter = ("origin", TestFilter, "resource_class")

    @admin.display(description="history")
    def history(self, version: ThresholdVersion) -> str:
        page = reverse("dashboards:limits", args=(version.slug, version.resource_class.name))
        return format_html('<a href="{}#diff">history and diff</a>', page)

    @admin.display(description="edit")
    def edit(self, version: ThresholdVersion) -> str:
        page = reverse("dashboards:edit-limits", args=(version.slug, version.resource_class.name))
        return format_html('<a href="{}">edit</a>', page)
