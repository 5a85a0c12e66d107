"""Attempts: the Slurm jobs of a run, with their scripts."""

from __future__ import annotations

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema_serializer
from rest_framework import serializers

from burnin.api.examples import ATTEMPT, example
from burnin.api.views import ListOf, OneOf
from burnin.models import Attempt
from burnin.selectors.attempts_filters import AttemptFilter


@extend_schema_serializer(examples=[example("An attempt", ATTEMPT)])
class AttemptShown(serializers.ModelSerializer[Attempt]):
    """One Slurm job, as Slurm told of it. Only an accepted one has a Slurm job id."""

    run = serializers.UUIDField(source="run_id")

    class Meta:
        model = Attempt
        fields: tuple[str, ...] = (
            "run",
            "number",
            "submission",
            "slurm_job_id",
            "slurm_state",
            "slurm_reason",
            "node_list",
            "exit_code",
            "derived_exit_code",
            "bundle_sha256",
            "asked_at",
            "submitted_at",
            "started_at",
            "ended_at",
            "observed_at",
        )


class AttemptInFull(AttemptShown):
    """An attempt with the script as it was submitted and what the node was told."""

    context = serializers.JSONField()  # type: ignore[assignment]  # fields are no attributes

    class Meta(AttemptShown.Meta):
        fields = (*AttemptShown.Meta.fields, "script", "context")


class Attempts(ListOf[Attempt]):
    """Attempts, the newest first, without their scripts."""

    serializer_class = AttemptShown
    filterset_class = AttemptFilter
    site_field = "run__site"

    def rows(self) -> QuerySet[Attempt]:
        return Attempt.objects.defer("script", "context", "log_asked_at")


class OneAttempt(OneOf[Attempt]):
    """One attempt of a run, by its number."""

    serializer_class = AttemptInFull
    site_field = "run__site"
    what, listed_at = "attempt", "attempts"

    def rows(self) -> QuerySet[Attempt]:
        return Attempt.objects.defer("log_asked_at")
