"""How a list of metrics can be narrowed."""

import django_filters

from burnin.models import MetricRow


class MetricFilter(django_filters.FilterSet):
    site = django_filters.CharFilter(field_name="result__run__site__name", label="Site")
    job = django_filters.UUIDFilter(field_name="result__run__job_id", label="Job")
    run = django_filters.UUIDFilter(field_name="result__run_id", label="Run")
    slug = django_filters.CharFilter(field_name="result__run__slug", label="Test")
    node = django_filters.CharFilter(field_name="node__name", label="Node")
    name = django_filters.CharFilter(label="Metric")
    since = django_filters.IsoDateTimeFilter(
        field_name="result__judged_at", lookup_expr="gte", label="Not before"
    )
    until = django_filters.IsoDateTimeFilter(
        field_name="result__judged_at", lookup_expr="lt", label="Before"
    )

    class Meta:
        model = MetricRow
        fields = ()
