"""Presets, and what became of jobs. Runs and results are read here, never written."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db import models
from django.db.models import QuerySet
from django.http import HttpRequest

from burnin.hardware_tests.registry import list_all_tests
from burnin.hardware_tests.stale_operations import load_stale_operations
from burnin.models import (
    Attempt,
    Job,
    JobCount,
    MetricRow,
    Preset,
    PresetStep,
    TestResult,
    TestRun,
    TestRunEvent,
    ThresholdVersion,
)
from fleet.models import HardwareOperation

Shown = type[models.Model]


def _test_choices() -> list[tuple[str, str]]:
    return [(test.slug, f"{test.display_name} ({test.slug})") for test in list_all_tests()]


def _operation_choices() -> list[tuple[str, str]]:
    return [(each.name, f"{each.name}: {each.means}") for each in load_stale_operations().values()]


class ReadOnly:
    """Rows that only the workflow writes."""

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyRows(ReadOnly, admin.TabularInline):
    extra = 0
    can_delete = False


class StepForm(forms.ModelForm):
    slug = forms.ChoiceField(label="Test", choices=_test_choices)


class StepRows(admin.TabularInline):
    model = PresetStep
    form = StepForm
    extra = 0


@admin.register(Preset)
class PresetAdmin(admin.ModelAdmin):
    list_display = ("name", "description", "accepts")
    list_select_related = ("accepts",)
    search_fields = ("name",)
    inlines = (StepRows,)


class OperationForm(forms.ModelForm):
    operation = forms.ChoiceField(choices=_operation_choices)


@admin.register(HardwareOperation)
class HardwareOperationAdmin(admin.ModelAdmin):
    form = OperationForm
    list_display = ("operation", "node", "performed_at", "recorded_by", "note")
    list_select_related = ("node", "recorded_by")
    list_filter = ("operation",)
    search_fields = ("node__name",)
    autocomplete_fields = ("node",)
    readonly_fields = ("recorded_by", "recorded_at")
    show_full_result_count = False

    def save_model(self, request: HttpRequest, obj: HardwareOperation, *rest: Any) -> None:
        if obj.recorded_by is None:
            obj.recorded_by = request.user  # type: ignore[assignment]  # nobody else gets here
        super().save_model(request, obj, *rest)


@admin.register(ThresholdVersion)
class ThresholdVersionAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ("slug", "resource_class", "label", "created_at", "created_by", "reason")
    list_select_related = ("resource_class", "created_by")
    list_filter = ("origin", "slug", "resource_class")


class CountRows(ReadOnlyRows):
    model = JobCount


@admin.register(Job)
class JobAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ("id", "site", "preset", "state", "verdict", "node_count", "created_at")
    list_select_related = ("site", "preset")
    list_filter = ("state", "verdict", "site")
    search_fields = ("id",)
    show_full_result_count = False
    inlines = (CountRows,)


class EventRows(ReadOnlyRows):
    model = TestRunEvent


class AttemptRows(ReadOnlyRows):
    model = Attempt
    fields = (
        "number",
        "submission",
        "slurm_job_id",
        "slurm_state",
        "slurm_reason",
        "node_list",
        "exit_code",
        "submitted_at",
        "ended_at",
    )


@admin.register(TestRun)
class TestRunAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ("id", "slug", "nodes", "job_id", "stage", "state", "verdict", "reason")
    list_select_related = ("job", "site")
    list_filter = ("state", "verdict", "slug", "site")
    search_fields = ("id", "job__id")
    show_full_result_count = False
    ordering = ("-pk",)  # an order of time would sort the whole history for each page
    inlines = (AttemptRows, EventRows)

    def get_queryset(self, request: HttpRequest) -> QuerySet[TestRun]:
        return super().get_queryset(request).prefetch_related("members__node")

    @admin.display(description="nodes")
    def nodes(self, run: TestRun) -> str:
        return ", ".join(member.node.name for member in run.members.all())


class MetricRows(ReadOnlyRows):
    model = MetricRow
    fields = ("label", "value", "unit", "better", "detail")


@admin.register(TestResult)
class TestResultAdmin(ReadOnly, admin.ModelAdmin):
    list_display = ("run", "verdict", "cause", "reason", "judged_at")
    list_select_related = ("run",)
    list_filter = ("verdict", "cause")
    search_fields = ("run__id",)
    show_full_result_count = False
    ordering = ("-pk",)
    inlines = (MetricRows,)
