"""How what was measured between nodes can be narrowed."""

from typing import Any

import django_filters
from django.db.models import Q, QuerySet

from burnin.models import PairMetric


class PairFilter(django_filters.FilterSet):
    metric = django_filters.CharFilter(field_name="name", label="Metric")
    link = django_filters.CharFilter(label="Link")
    node = django_filters.CharFilter(method="at_either_end", label="Node at either end")

    class Meta:
        model = PairMetric
        fields = ()

    def at_either_end(self, rows: QuerySet[PairMetric], _: str, name: Any) -> QuerySet[PairMetric]:
        return rows.filter(Q(source__name=name) | Q(target__name=name))
