"""How a list of hardware operations can be narrowed."""

import django_filters

from fleet.models import HardwareOperation


class OperationFilter(django_filters.FilterSet):
    site = django_filters.CharFilter(field_name="node__site__name", label="Site")
    node = django_filters.CharFilter(field_name="node__name", label="Node")
    operation = django_filters.CharFilter(label="Operation")
    since = django_filters.IsoDateTimeFilter(
        field_name="performed_at", lookup_expr="gte", label="Not before"
    )
    until = django_filters.IsoDateTimeFilter(
        field_name="performed_at", lookup_expr="lt", label="Before"
    )

    class Meta:
        model = HardwareOperation
        fields = ()
