"""How a list of runs can be narrowed: pages, exports and REST alike."""

import django_filters

from burnin.models import TestRun
from burnin.states import Cause, RunState, Verdict

STATES = [(each.value, each.value) for each in RunState]
VERDICTS = [(each.value, each.value) for each in Verdict]
CAUSES = [(each.value, each.value) for each in Cause if each.value]


class RunFilter(django_filters.FilterSet):
    site = django_filters.CharFilter(field_name="site__name", label="Site")
    job = django_filters.UUIDFilter(field_name="job_id", label="Job")
    stage = django_filters.NumberFilter(label="Stage", min_value=1, max_value=32767)
    slug = django_filters.CharFilter(label="Test")
    node = django_filters.CharFilter(field_name="members__node__name", label="On node")
    state = django_filters.MultipleChoiceFilter(choices=STATES, label="State")
    verdict = django_filters.MultipleChoiceFilter(choices=VERDICTS, label="Verdict")
    cause = django_filters.MultipleChoiceFilter(choices=CAUSES, label="Cause")
    rerun_of = django_filters.UUIDFilter(field_name="rerun_of_id", label="Re-run of")

    class Meta:
        model = TestRun
        fields = ()
