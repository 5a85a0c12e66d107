"""Presets: ordered plans of tests, which jobs are made from."""

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from burnin.api.examples import PRESET, example
from burnin.api.views import ListOf, OneOf, Rows
from burnin.models import Preset, PresetStep


class StepShown(serializers.ModelSerializer[PresetStep]):
    """One test of a preset. Steps of one stage run side by side, stages one after another."""

    class Meta:
        model = PresetStep
        fields = (
            "position",
            "stage",
            "slug",
            "params",
            "iterations",
            "timeout_minutes",
            "is_gate",
            "measure_only",
            "max_attempts",
            "only_if_site_sets",
        )


@extend_schema_serializer(examples=[example("A preset", PRESET)])
class PresetShown(serializers.ModelSerializer[Preset]):
    """A plan. Nodes of the classes that `accepts` names are accepted by it."""

    accepts = serializers.ListField(child=serializers.CharField())
    steps = StepShown(many=True)

    class Meta:
        model = Preset
        fields = ("name", "description", "accepts", "steps")


class _Presets(Rows[Preset]):
    """What list and single preset share."""

    serializer_class = PresetShown

    def rows(self) -> QuerySet[Preset]:
        return Preset.objects.prefetch_related("acceptances__resource_class", "steps")


class Presets(_Presets, ListOf[Preset]):
    """The presets."""

    keys = ("name",)


class OnePreset(_Presets, OneOf[Preset]):
    """One preset."""

    what, listed_at = "preset", "presets"
