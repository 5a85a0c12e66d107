"""What kinds of node there are."""

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from burnin.api.examples import RESOURCE_CLASS, example
from burnin.api.views import ListOf
from fleet.models import ResourceClass


@extend_schema_serializer(examples=[example("A class", RESOURCE_CLASS)])
class ResourceClassShown(serializers.ModelSerializer[ResourceClass]):
    """What a node is: limits are calibrated for a class.

    `gpus_per_node` null: its hardware is not stated, so its nodes take no job. `parts` are what its
    nodes have of that which only some checks are for.
    """

    class Meta:
        model = ResourceClass
        fields = ("name", "description", "gpus_per_node", "gpu_maker", "parts")


class ResourceClasses(ListOf[ResourceClass]):
    """The resource classes."""

    serializer_class = ResourceClassShown
    keys = ("name",)

    def rows(self) -> QuerySet[ResourceClass]:
        return ResourceClass.objects.all()
