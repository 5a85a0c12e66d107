"""Nodes: what they are, what Slurm says of them, and what was last shown about them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema_field, extend_schema_serializer
from rest_framework import serializers

from burnin.api import conditional
from burnin.api.examples import NODE, example
from burnin.api.views import ListOf, OneOf, Rows
from burnin.models import LatestResult
from burnin.selectors.nodes import Place, placed, why
from burnin.selectors.nodes_filters import NodeFilter
from fleet.models import Node


@extend_schema_serializer(examples=[example("A node", NODE)])
class NodeShown(serializers.ModelSerializer[Node]):
    """One machine by its Slurm name. `place` is where it is counted, `why` says why.

    `is_usable` is whether Slurm would start a job there now.
    """

    site = serializers.CharField(source="site.name")
    resource_class = serializers.CharField(source="resource_class.name")
    gpu_uuids = serializers.ListField(child=serializers.CharField())
    place = serializers.ChoiceField(choices=Place.choices)
    why = serializers.SerializerMethodField()
    required_tests = serializers.IntegerField(
        source="standing.required", default=None, allow_null=True, read_only=True
    )
    passed_tests = serializers.IntegerField(
        source="standing.passed", default=None, allow_null=True, read_only=True
    )

    class Meta:
        model = Node
        fields: tuple[str, ...] = (
            "site",
            "name",
            "resource_class",
            "place",
            "why",
            "required_tests",
            "passed_tests",
            "dmi_serial",
            "machine_id",
            "gpu_uuids",
            "cpu_count",
            "memory_mib",
            "slurm_state",
            "slurm_reason",
            "is_usable",
            "seen_at",
            "excluded_because",
        )

    @extend_schema_field(serializers.CharField())
    def get_why(self, node: Node) -> str:
        return why(node)


class LatestShown(serializers.ModelSerializer[LatestResult]):
    """A conclusive result that nothing newer has outdone, and what its run was asked to do."""

    class Meta:
        model = LatestResult
        fields = (
            "slug",
            "verdict",
            "started_at",
            "judged_at",
            "result",
            "params",
            "iterations",
        )


class NodeInFull(NodeShown):
    """A node with what is shown of it now: by test the newest result, and older ones of more."""

    latest_results = LatestShown(many=True)

    class Meta(NodeShown.Meta):
        fields = (*NodeShown.Meta.fields, "latest_results")


class _Nodes(Rows[Node]):
    """What list and single node share."""

    site_field = "site"

    def rows(self) -> QuerySet[Node]:
        related = ("site", "resource_class", "standing")
        return placed(Node.objects.select_related(*related), timezone.now())

    def more_state(self, rows: Sequence[Node]) -> list[Any]:
        return [(each.__dict__["place"], self._standing(each)) for each in rows]

    def _standing(self, node: Node) -> Any:
        standing = getattr(node, "standing", None)
        return conditional.state_of(standing) if standing else None


class Nodes(_Nodes, ListOf[Node]):
    """Nodes, by site and name, each with where it stands."""

    serializer_class = NodeShown
    filterset_class = NodeFilter
    keys = ("site_id", "name")


class OneNode(_Nodes, OneOf[Node]):
    """One node of a site."""

    serializer_class = NodeInFull
    what, listed_at = "node", "nodes"

    def rows(self) -> QuerySet[Node]:
        return super().rows().prefetch_related("latest_results")
