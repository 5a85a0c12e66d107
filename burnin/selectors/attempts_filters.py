"""How a list of attempts can be narrowed."""

import django_filters

from burnin.models import Attempt


class AttemptFilter(django_filters.FilterSet):
    site = django_filters.CharFilter(field_name="run__site__name", label="Site")
    job = django_filters.UUIDFilter(field_name="run__job_id", label="Job")
    run = django_filters.UUIDFilter(field_name="run_id", label="Run")
    submission = django_filters.MultipleChoiceFilter(
        choices=Attempt.Submission.choices, label="Submission"
    )
    slurm_job_id = django_filters.CharFilter(label="Slurm job id")

    class Meta:
        model = Attempt
        fields = ()
