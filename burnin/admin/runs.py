"""Runs and results. Only the workflow writes them."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from unfold.paginator import InfinitePaginator

from burnin.hardware_tests.registry import list_all_tests
from burnin.models import Attempt, MetricRow, TestResult, TestRun, TestRunEvent
from fleet.admin_scope import ByRole, ReadRows, SiteFilter


class TestFilter(admin.SimpleListFilter):
    """By test: of the registry, for to ask the history which there are would read all of it."""

    __test__ = False
    title, parameter_name = "test", "slug"
    slug_path = "slug"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(test.slug, test.slug) for test in list_all_tests()]

    def queryset(self, request: HttpRequest, rows: QuerySet[Any]) -> QuerySet[Any]:
        return rows.filter(**{self.slug_path: self.value()}) if self.value() else rows


class EventRows(ReadRows):
    model = TestRunEvent


class AttemptRows(ReadRows):
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
class TestRunAdmin(ByRole):
    site_path, edited_by = "site", None
    list_display = ("id", "slug", "nodes", "job_id", "stage", "state", "verdict", "reason")
    list_select_related = ("job", "site")
    list_filter = ("state", "verdict", TestFilter, ("site", SiteFilter))
    search_fields = ("=id", "=job__id")
    paginator = InfinitePaginator
    list_disable_select_all = True
    ordering = ("-pk",)  # an order of time would sort the whole history for each page
    inlines = (AttemptRows, EventRows)

    def get_queryset(self, request: HttpRequest) -> QuerySet[TestRun]:
        return super().get_queryset(request).prefetch_related("members__node")

    @admin.display(description="nodes")
    def nodes(self, run: TestRun) -> str:
        return ", ".join(member.node.name for member in run.members.all())


class MetricRows(ReadRows):
    model = MetricRow
    fields = ("label", "value", "unit", "better", "detail")


@admin.register(TestResult)
class TestResultAdmin(ByRole):
    site_path, edited_by = "run__site", None
    list_display = ("run", "verdict", "cause", "reason", "judged_at")
    list_select_related = ("run",)
    list_filter = ("verdict", "cause")
    search_fields = ("=run__id",)
    paginator = InfinitePaginator
    list_disable_select_all = True
    ordering = ("-pk",)
    inlines = (MetricRows,)
