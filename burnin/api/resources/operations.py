"""Hardware operations: what was done to a node, which may make its evidence stale."""

from __future__ import annotations

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from burnin.api.callers import actor_of
from burnin.api.errors import Unprocessable
from burnin.api.examples import NEW_OPERATION, OPERATION, example, request_example
from burnin.api.fields import Stated, Words
from burnin.api.permissions import site_to_operate
from burnin.api.views import ListOf
from burnin.selectors.operations_filters import OperationFilter
from burnin.workflow.operations import OperationRefused, report_operation
from fleet.models import HardwareOperation, Node


@extend_schema_serializer(examples=[example("An operation", OPERATION)])
class OperationShown(serializers.ModelSerializer[HardwareOperation]):
    """Something that was done to a node."""

    site = serializers.CharField(source="node.site.name")
    node = serializers.CharField(source="node.name")
    recorded_by = serializers.CharField(
        source="recorded_by.username", default=None, allow_null=True, read_only=True
    )

    class Meta:
        model = HardwareOperation
        fields = (
            "id",
            "site",
            "node",
            "operation",
            "performed_at",
            "recorded_at",
            "recorded_by",
            "note",
        )


@extend_schema_serializer(examples=[request_example("A DIMM was swapped", NEW_OPERATION)])
class NewOperation(Stated):
    """What was done, and when: evidence of the tests that it touches no longer counts."""

    site = Words(max_length=63)
    node = Words(max_length=255)
    operation = Words(max_length=63)
    performed_at = serializers.DateTimeField()
    note = serializers.CharField(max_length=1000, allow_blank=True, default="")


class Operations(ListOf[HardwareOperation]):
    """Operations, the last reported first."""

    serializer_class = OperationShown
    filterset_class = OperationFilter
    site_field = "node__site"

    def rows(self) -> QuerySet[HardwareOperation]:
        return HardwareOperation.objects.select_related("node__site", "recorded_by")

    @extend_schema(request=NewOperation, responses={201: OperationShown})
    def post(self, request: Request) -> Response:
        """Report what was done to a node. Late is as good as in time."""
        asked = NewOperation(data=request.data)
        asked.is_valid(raise_exception=True)
        stated = asked.validated_data
        site = site_to_operate(request, stated["site"])
        node = Node.objects.select_related("site").filter(site=site, name=stated["node"]).first()
        if node is None:
            raise Unprocessable(
                f"site {site.name} has no node {stated['node']!r:.80}: see /api/v1/nodes"
            )
        try:
            reported = report_operation(
                node,
                stated["operation"],
                performed_at=stated["performed_at"],
                note=stated["note"],
                by=actor_of(request),
                now=timezone.now(),
            )
        except OperationRefused as error:
            raise Unprocessable(str(error)) from error
        return Response(OperationShown(reported).data, status=201)
