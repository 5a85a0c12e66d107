"""How a list of nodes can be narrowed: the page, its exports and REST."""

from typing import Any

import django_filters
from django.db.models import Q, QuerySet
from django.utils import timezone

from burnin.selectors.matrix_filters import HostlistFilter
from burnin.selectors.nodes import Place, placed
from fleet.models import Node


class NodeFilter(django_filters.FilterSet):
    site = django_filters.CharFilter(field_name="site__name", label="Site")
    resource_class = django_filters.CharFilter(field_name="resource_class__name", label="Class")
    place = django_filters.MultipleChoiceFilter(
        choices=Place.choices, method="at_place", label="Stands as"
    )
    nodes = HostlistFilter(field_name="name", label="Node or hostlist")
    q = django_filters.CharFilter(method="with_words", label="Name, serial or reason")

    class Meta:
        model = Node
        fields = ()

    def at_place(self, rows: QuerySet[Any], name: str, value: list[str]) -> QuerySet[Any]:
        if "place" not in rows.query.annotations:
            rows = placed(rows, timezone.now())
        return rows.filter(place__in=value) if value else rows

    def with_words(self, rows: QuerySet[Node], name: str, value: str) -> QuerySet[Node]:
        words = value.strip()
        return rows.filter(
            Q(name__icontains=words)
            | Q(dmi_serial__icontains=words)
            | Q(slurm_reason__icontains=words)
            | Q(standing__reason__icontains=words)
        )
