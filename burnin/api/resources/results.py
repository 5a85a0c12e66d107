"""Results: verdicts, with every bound as it was used."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from burnin.api.examples import RESULT, example
from burnin.api.resources.metrics import MetricOfResult
from burnin.api.views import ListOf, OneOf
from burnin.models import TestResult
from burnin.selectors.results_filters import ResultFilter


class ResultShown(serializers.ModelSerializer[TestResult]):
    """The one result of a run. `deviation` is the worst margin to a bound, relative to it."""

    run = serializers.UUIDField(source="run_id")
    job = serializers.UUIDField(source="run.job_id")
    slug = serializers.CharField(source="run.slug")
    site = serializers.CharField(source="run.site.name")
    nodes = serializers.SerializerMethodField()
    thresholds = serializers.CharField(source="thresholds.label", default=None, allow_null=True)

    class Meta:
        model = TestResult
        fields: tuple[str, ...] = (
            "id",
            "run",
            "job",
            "site",
            "slug",
            "nodes",
            "verdict",
            "cause",
            "reason",
            "deviation",
            "thresholds",
            "fingerprint",
            "started_at",
            "finished_at",
            "judged_at",
        )

    @extend_schema_field(serializers.ListField(child=serializers.CharField()))
    def get_nodes(self, result: TestResult) -> list[str]:
        return [each.node.name for each in result.run.members.all()]


@extend_schema_serializer(examples=[example("A result", RESULT)])
class ResultInFull(ResultShown):
    """A result with its metrics, the bounds they were held against, and what the node is."""

    evaluation = serializers.JSONField()
    iterations = serializers.JSONField(allow_null=True)
    tools = serializers.JSONField()
    facts = serializers.JSONField()
    metrics = MetricOfResult(many=True)

    class Meta(ResultShown.Meta):
        fields = (
            *ResultShown.Meta.fields,
            "metrics",
            "evaluation",
            "iterations",
            "tools",
            "facts",
        )


class Results(ListOf[TestResult]):
    """Results, the newest first."""

    serializer_class = ResultShown
    filterset_class = ResultFilter
    site_field = "run__site"

    def rows(self) -> QuerySet[TestResult]:
        return _rows().defer("evaluation", "iterations", "tools", "facts", "thresholds__bounds")


class OneResult(OneOf[TestResult]):
    """One result in full."""

    serializer_class = ResultInFull
    site_field = "run__site"
    what, listed_at = "result", "results"

    def rows(self) -> QuerySet[TestResult]:
        return _rows().prefetch_related("metrics__node").defer("thresholds__bounds")


def _rows() -> QuerySet[TestResult]:
    return TestResult.objects.select_related("run__site", "thresholds").prefetch_related(
        "run__members__node"
    )
