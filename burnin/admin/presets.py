"""Presets and their steps, with what was changed in them."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget

from burnin.hardware_tests.registry import list_all_tests
from burnin.models import Acceptance, Preset, PresetStep
from burnin.selectors.preset_history import changes_of
from fleet.admin_scope import ByRole, EditRows


def _test_choices() -> list[tuple[str, str]]:
    return [(test.slug, f"{test.display_name} ({test.slug})") for test in list_all_tests()]


class StepForm(forms.ModelForm):
    slug = forms.ChoiceField(
        label="Test",
        choices=_test_choices,
        widget=UnfoldAdminSelectWidget(attrs={"style": "min-width: 15rem"}),
    )
    params = forms.JSONField(
        required=False,
        initial=dict,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 2, "style": "min-width: 15rem"}),
    )

    def clean_params(self) -> Any:
        return self.cleaned_data["params"] or {}


class StepRows(EditRows):
    model = PresetStep
    form = StepForm


class AcceptanceRows(EditRows):
    model = Acceptance
    verbose_name = "class"
    verbose_name_plural = "classes whose nodes it accepts"


@admin.register(Preset)
class PresetAdmin(ByRole):
    list_display = ("name", "description", "classes")
    search_fields = ("name",)
    inlines = (AcceptanceRows, StepRows)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Preset]:
        return super().get_queryset(request).prefetch_related("acceptances__resource_class")

    @admin.display(description="accepts")
    def classes(self, preset: Preset) -> str:
        return ", ".join(preset.accepts) or "–"

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: Any = None
    ) -> HttpResponse:
        """Show what changed in the preset and in its steps, with the values before and after."""
        preset = self.get_object(request, object_id)
        if preset is None:
            raise Http404("there is no such preset")
        context = {
            **self.admin_site.each_context(request),
            "title": f"What changed in {preset}",
            "opts": self.opts,
            "object": preset,
            "changes": changes_of(preset),
        }
        return TemplateResponse(request, "admin/burnin/preset/history.html", context)
