"""How the fleet stands, in counts that add up."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponseBase
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from burnin.api import conditional
from burnin.api.callers import user_of
from burnin.api.examples import FLEET, example
from burnin.api.views import Bounded
from burnin.selectors.nodes import Place, counts, nodes_at
from fleet.access import sites_of


class PlaceCounts(serializers.Serializer[Any]):
    """Nodes by where they stand: each is counted once, and somewhere."""

    def get_fields(self) -> dict[str, Any]:
        return {place.value: serializers.IntegerField() for place in Place}


@extend_schema_serializer(examples=[example("A fleet", FLEET)])
class FleetShown(serializers.Serializer[Any]):
    """The nodes that you may see; the counts add up to `total`."""

    total = serializers.IntegerField()
    counts = PlaceCounts()


class Fleet(Bounded):
    """How many nodes are accepted, failing, running, and so on."""

    keeps_etag = True

    @extend_schema(responses=FleetShown)
    def get(self, request: Request) -> HttpResponseBase:
        found = counts(nodes_at(sites_of(user_of(request)), timezone.now()))
        shown = {"total": sum(found.values()), "counts": found}
        return conditional.answer(request, [shown], lambda: Response(FleetShown(shown).data))
