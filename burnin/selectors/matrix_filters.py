"""How the nodes of a job can be narrowed and sorted: the matrix page, its exports and REST."""

from __future__ import annotations

from typing import Any

import django_filters
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.forms import CharField

from burnin.models import JobNode
from burnin.models.severity import Severity
from burnin.slurm.hostlist import BadHostList, expand_typed

SEVERITIES = {
    "passed": (Severity.PASSED,),
    "failed": (Severity.FAILED, Severity.FAULT),
    "errored": (Severity.ERRORED,),
    "inconclusive": (Severity.INCONCLUSIVE,),
    "measured": (Severity.MEASURED,),
    "skipped": (Severity.SKIPPED,),
}
STANDINGS = [*((each, each.capitalize()) for each in SEVERITIES), ("open", "Not done yet")]
WORST, BY_NAME, BY_CLASS = "worst", "name", "class"
SORTS = ((WORST, "Worst first"), (BY_NAME, "Node name"), (BY_CLASS, "By class, worst first"))
_ORDERS = {
    WORST: ("-severity", "worst", "node"),
    BY_NAME: ("node__name", "node"),
    BY_CLASS: ("node__resource_class__name", "-severity", "worst", "node"),
}


class HostlistField(CharField):
    """`n[1-4],n9`, a part of a name, or nothing."""

    def clean(self, value: Any) -> str:
        text = str(super().clean(value))
        if _is_hostlist(text):
            try:
                expand_typed(text)
            except BadHostList as error:
                raise ValidationError(str(error)) from error
        return text


class HostlistFilter(django_filters.Filter):
    """Nodes by a host list, else by a part of their name."""

    field_class = HostlistField

    def filter(self, qs: QuerySet[Any], value: str) -> QuerySet[Any]:
        if not value:
            return qs
        if _is_hostlist(value):
            return qs.filter(**{f"{self.field_name}__in": expand_typed(value)})
        return qs.filter(**{f"{self.field_name}__icontains": value})


def _is_hostlist(text: str) -> bool:
    """Say whether it is more than a part of one name."""
    return not {"[", ","}.isdisjoint(text) or len(text.split()) > 1


class MatrixFilter(django_filters.FilterSet):
    verdict = django_filters.ChoiceFilter(
        choices=STANDINGS, method="with_verdict", label="Verdict", empty_label="Any verdict"
    )
    resource_class = django_filters.CharFilter(
        field_name="node__resource_class__name", label="Class"
    )
    nodes = HostlistFilter(field_name="node__name", label="Node or hostlist")
    sort = django_filters.ChoiceFilter(
        choices=SORTS[1:], method="in_order", label="Sort", empty_label=SORTS[0][1]
    )

    class Meta:
        model = JobNode
        fields = ()

    def with_verdict(self, rows: QuerySet[JobNode], name: str, value: str) -> QuerySet[JobNode]:
        if value == "open":
            return rows.filter(open_runs__gt=0)
        return rows.filter(severity__in=SEVERITIES[value])

    def in_order(self, rows: QuerySet[JobNode], name: str, value: str) -> QuerySet[JobNode]:
        return rows.order_by(*_ORDERS[value])

    @property
    def qs(self) -> QuerySet[JobNode]:
        found: QuerySet[JobNode] = super().qs
        return found if found.query.order_by else found.order_by(*_ORDERS[WORST])
