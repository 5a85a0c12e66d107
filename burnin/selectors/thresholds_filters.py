"""How a list of versions of limits can be narrowed: pages, exports and REST alike."""

import django_filters

from burnin.models import ThresholdVersion
from burnin.models.threshold import ThresholdOrigin


class ThresholdFilter(django_filters.FilterSet):
    slug = django_filters.CharFilter(label="Test")
    resource_class = django_filters.CharFilter(
        field_name="resource_class__name", label="Resource class"
    )
    origin = django_filters.ChoiceFilter(choices=ThresholdOrigin.choices, label="Origin")

    class Meta:
        model = ThresholdVersion
        fields = ()
