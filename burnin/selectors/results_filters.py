"""How a list of results can be narrowed: pages, exports and REST alike."""

import django_filters

from burnin.models import TestResult
from burnin.selectors.runs_filters import CAUSES, VERDICTS


class ResultFilter(django_filters.FilterSet):
    site = django_filters.CharFilter(field_name="run__site__name", label="Site")
    job = django_filters.UUIDFilter(field_name="run__job_id", label="Job")
    run = django_filters.UUIDFilter(field_name="run_id", label="Run")
    slug = django_filters.CharFilter(field_name="run__slug", label="Test")
    node = django_filters.CharFilter(field_name="run__members__node__name", label="On node")
    verdict = django_filters.MultipleChoiceFilter(choices=VERDICTS, label="Verdict")
    cause = django_filters.MultipleChoiceFilter(choices=CAUSES, label="Cause")
    since = django_filters.IsoDateTimeFilter(
        field_name="judged_at", lookup_expr="gte", label="Not before"
    )
    until = django_filters.IsoDateTimeFilter(
        field_name="judged_at", lookup_expr="lt", label="Before"
    )

    class Meta:
        model = TestResult
        fields = ()
