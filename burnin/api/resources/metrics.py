"""Metrics: one number a row, for trends and comparisons."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from burnin.api.examples import METRIC, example
from burnin.api.views import ListOf
from burnin.models import MetricRow
from burnin.selectors.metrics_filters import MetricFilter


class MetricOfResult(serializers.ModelSerializer[MetricRow]):
    """One metric. `node` is null if it is of all nodes of the run together."""

    node = serializers.CharField(source="node.name", default=None, allow_null=True)

    class Meta:
        model = MetricRow
        fields: tuple[str, ...] = ("name", "label", "value", "unit", "better", "node", "detail")


@extend_schema_serializer(examples=[example("A metric", METRIC)])
class MetricShown(MetricOfResult):
    """One metric, and what it was measured by."""

    slug = serializers.CharField(source="result.run.slug")
    site = serializers.CharField(source="result.run.site.name")
    run = serializers.UUIDField(source="result.run_id")
    judged_at = serializers.DateTimeField(source="result.judged_at")

    class Meta(MetricOfResult.Meta):
        fields = (*MetricOfResult.Meta.fields, "slug", "site", "run", "judged_at")


class Metrics(ListOf[MetricRow]):
    """Metrics, the newest first."""

    serializer_class = MetricShown
    filterset_class = MetricFilter
    site_field = "result__run__site"

    def rows(self) -> QuerySet[MetricRow]:
        deferred = ("evaluation", "iterations", "tools", "facts")
        return MetricRow.objects.select_related("node", "result__run__site").defer(
            *(f"result__{name}" for name in deferred)
        )
