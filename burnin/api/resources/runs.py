"""Runs: one test on its nodes, where it stands and why."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from burnin.api.examples import RUN, example
from burnin.api.views import ListOf, OneOf
from burnin.models import TestRun, TestRunEvent
from burnin.selectors.runs_filters import RunFilter


@extend_schema_serializer(examples=[example("A run that failed", RUN)])
class RunShown(serializers.ModelSerializer[TestRun]):
    """`state` says whether it ran, `verdict` whether the hardware passed; it is empty until then.

    `cause` says where the reason lies: only `failed` counts against the hardware.
    """

    site = serializers.CharField(source="site.name")
    job = serializers.UUIDField(source="job_id")
    rerun_of = serializers.UUIDField(source="rerun_of_id", allow_null=True)
    nodes = serializers.SerializerMethodField()

    class Meta:
        model = TestRun
        fields: tuple[str, ...] = (
            "id",
            "job",
            "site",
            "stage",
            "step",
            "slug",
            "nodes",
            "state",
            "verdict",
            "cause",
            "reason",
            "waits_because",
            "attempt_number",
            "rerun_of",
            "cancel_reason",
            "created_at",
            "moved_at",
        )

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_nodes(self, run: TestRun) -> list[str]:
        return [each.node.name for each in run.members.all()]


class EventShown(serializers.ModelSerializer[TestRunEvent]):
    """One move of a run."""

    class Meta:
        model = TestRunEvent
        fields = ("at", "before", "after", "note")


class RunInFull(RunShown):
    """A run and its history."""

    events = EventShown(many=True)

    class Meta(RunShown.Meta):
        fields = (*RunShown.Meta.fields, "events")


class Runs(ListOf[TestRun]):
    """Runs, in the order of their ids: that is no order of time. Narrow them to a job.

    Results (`/api/v1/results`) come newest first.
    """

    serializer_class = RunShown
    filterset_class = RunFilter
    site_field = "site"
    keys = ("id",)

    def rows(self) -> QuerySet[TestRun]:
        return _rows()


class OneRun(OneOf[TestRun]):
    """One run with its history."""

    serializer_class = RunInFull
    site_field = "site"
    what, listed_at = "run", "runs"

    def rows(self) -> QuerySet[TestRun]:
        return _rows().prefetch_related("events")


def _rows() -> QuerySet[TestRun]:
    return (
        TestRun.objects.select_related("site")
        .prefetch_related("members__node")
        .defer("carried_until")
    )
