"""What a run measured between each two of its nodes, for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponseBase
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from burnin.api.examples import PAIR, example
from burnin.api.permissions import visible_sites
from burnin.api.views import ListOf
from burnin.models import MetricRow, PairMetric, TestRun
from burnin.selectors.pairs_filters import PairFilter


@extend_schema_serializer(examples=[example("One direction of a link", PAIR)])
class PairShown(serializers.Serializer[Any]):
    """One metric of one direction. `link` names the ports of both ends; "" is the whole pair."""

    # A field's name here, and an attribute of every serializer to the type checker.
    source = serializers.CharField()  # type: ignore[assignment]
    target = serializers.CharField()
    link = serializers.CharField()
    metric = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    value = serializers.FloatField()
    unit = serializers.CharField()
    better = serializers.CharField()


class RunPairs(ListOf[PairMetric]):
    """What a run measured between its nodes, in both directions of every link."""

    serializer_class = PairShown
    filterset_class = PairFilter
    site_field = "result__run__site"
    keys = ("id",)

    def rows(self) -> QuerySet[PairMetric]:
        rows = PairMetric.objects.select_related("source", "target")
        return rows.filter(result__run=self.kwargs.get("id"))

    def get(self, request: Request, **kwargs: Any) -> HttpResponseBase:
        visible = TestRun.objects.filter(site__in=visible_sites(self.request))
        if not visible.filter(pk=self.kwargs["id"]).exists():
            raise NotFound("there is no such run, or none that you may see; see /api/v1/runs")
        return super().get(request, **kwargs)

    def _render(self, page: Sequence[PairMetric]) -> Response:
        metrics = MetricRow.objects.filter(result__run=self.kwargs["id"])
        known = {each.name: each for each in metrics}
        shown = PairShown([_shown(row, known.get(row.name)) for row in page], many=True)
        return self.get_paginated_response(shown.data)


def _shown(row: PairMetric, metric: MetricRow | None) -> dict[str, Any]:
    return {
        "source": row.source.name,
        "target": row.target.name,
        "link": row.link,
        "metric": row.name,
        "label": metric.label if metric else row.name,
        "value": row.value,
        "unit": metric.unit if metric else "",
        "better": metric.better if metric else "",
    }
