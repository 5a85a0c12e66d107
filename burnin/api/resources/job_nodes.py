"""The nodes of a job with every test of it: the matrix, for programs."""

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

from burnin.api.examples import JOB_NODE, example
from burnin.api.permissions import visible_sites
from burnin.api.views import ListOf
from burnin.models import Job, JobNode
from burnin.selectors.matrix import Row, columns_of, rows_of
from burnin.selectors.matrix_filters import MatrixFilter


class MemberFilter(MatrixFilter):
    sort = None  # pages follow the nodes, whatever moves meanwhile


class CellShown(serializers.Serializer[Any]):
    """One run of the node; `value` is what decided, in `unit`, and null if nothing was measured."""

    run_id = serializers.UUIDField()
    slug = serializers.CharField()
    stage = serializers.IntegerField()
    state = serializers.CharField()
    verdict = serializers.CharField()
    cause = serializers.CharField()
    reason = serializers.CharField()
    attempt = serializers.IntegerField()
    moved_at = serializers.DateTimeField()
    value = serializers.FloatField(allow_null=True)
    unit = serializers.CharField()


@extend_schema_serializer(examples=[example("A node of a job", JOB_NODE)])
class MemberShown(serializers.Serializer[Any]):
    """A node that was asked for, and its run of every test. `worst` is the worst margin."""

    node = serializers.CharField()
    resource_class = serializers.CharField()
    left_because = serializers.CharField()
    open_runs = serializers.IntegerField()
    worst = serializers.FloatField(allow_null=True)
    runs = CellShown(many=True)


class JobNodes(ListOf[JobNode]):
    """The nodes of a job, each with its run of every test."""

    serializer_class = MemberShown
    filterset_class = MemberFilter
    site_field = "job__site"
    keys = ("node_id",)

    def rows(self) -> QuerySet[JobNode]:
        members = JobNode.objects.select_related("node__resource_class")
        return members.filter(job=self.kwargs.get("id"))

    def get(self, request: Request, **kwargs: Any) -> HttpResponseBase:
        self._job = self._find()
        self._columns = columns_of(self._job)
        return super().get(request, **kwargs)

    def more_state(self, rows: Sequence[JobNode]) -> list[Any]:
        self._rows = rows_of(self._job, rows, self._columns)
        return [cell for row in self._rows for cell in row.cells]

    def _render(self, page: Sequence[JobNode]) -> Response:
        shown = MemberShown([self._shown(row) for row in self._rows], many=True)
        return self.get_paginated_response(shown.data)

    def _shown(self, row: Row) -> dict[str, Any]:
        cells = zip(self._columns, row.cells, strict=True)
        return {
            "node": row.member.node.name,
            "resource_class": row.member.node.resource_class.name,
            "left_because": row.member.left_because,
            "open_runs": row.member.open_runs,
            "worst": row.member.worst,
            "runs": [
                {**vars(cell), "slug": column.slug, "stage": column.stage}
                for column, cell in cells
                if cell is not None
            ],
        }

    def _find(self) -> Job:
        visible = Job.objects.filter(site__in=visible_sites(self.request))
        job = visible.filter(pk=self.kwargs["id"]).first()
        if job is None:
            raise NotFound("there is no such job, or none that you may see; see /api/v1/jobs")
        return job
