"""How a list of artifacts can be narrowed."""

import django_filters

from burnin.models import Artifact


class ArtifactFilter(django_filters.FilterSet):
    site = django_filters.CharFilter(field_name="attempt__run__site__name", label="Site")
    job = django_filters.UUIDFilter(field_name="attempt__run__job_id", label="Job")
    run = django_filters.UUIDFilter(field_name="attempt__run_id", label="Run")
    name = django_filters.CharFilter(label="File name")

    class Meta:
        model = Artifact
        fields = ()
