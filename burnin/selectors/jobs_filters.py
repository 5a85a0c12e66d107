"""How a list of jobs can be narrowed: pages, exports and REST alike."""

import django_filters

from burnin.models.job import Job, JobState, JobVerdict

JOB_VERDICTS = [choice for choice in JobVerdict.choices if choice[0]]


class JobFilter(django_filters.FilterSet):
    site = django_filters.CharFilter(field_name="site__name", label="Site")
    state = django_filters.MultipleChoiceFilter(choices=JobState.choices, label="State")
    verdict = django_filters.MultipleChoiceFilter(choices=JOB_VERDICTS, label="Verdict")
    preset = django_filters.CharFilter(field_name="preset__name", label="Preset")
    requested_by = django_filters.CharFilter(
        field_name="requested_by__username", label="Requested by"
    )
    node = django_filters.CharFilter(field_name="members__node__name", label="With node")
    since = django_filters.IsoDateTimeFilter(
        field_name="created_at", lookup_expr="gte", label="Not before"
    )
    until = django_filters.IsoDateTimeFilter(
        field_name="created_at", lookup_expr="lt", label="Before"
    )

    class Meta:
        model = Job
        fields = ()
