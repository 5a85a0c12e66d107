"""Jobs: what was asked for, how far it is, and starting one."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import (
    OpenApiParameter,
    OpenApiResponse,
    extend_schema,
    extend_schema_serializer,
)
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from burnin.api.callers import actor_of
from burnin.api.errors import Unprocessable
from burnin.api.examples import JOB, NEW_JOB, NEW_JOB_OF_STEPS, example, request_example
from burnin.api.fields import PlainObject, Stated, Words
from burnin.api.permissions import site_to_operate
from burnin.api.views import ListOf, OneOf, Rows
from burnin.models import Job, JobCount, Preset
from burnin.selectors.jobs_filters import JobFilter
from burnin.slurm import hostlist
from burnin.workflow import wiring
from burnin.workflow.asked_before import job_of
from burnin.workflow.plan import JobRequest, PlanRefused, StepRequest, plan_job
from fleet.models import Site

KEY_HEADER = "Idempotency-Key"
LONGEST_KEY = 200
MOST_STEPS = 100
MOST_ATTEMPTS = 5
LONGEST_MINUTES = 7 * 24 * 60
KEY_SHAPE = {"type": "string", "minLength": 1, "maxLength": LONGEST_KEY, "pattern": "^[!-~]+$"}
SAYS = "Your own name for this request: sent again, it answers with what it made."
KEY = OpenApiParameter(
    KEY_HEADER,
    KEY_SHAPE,
    OpenApiParameter.HEADER,
    required=True,
    description=SAYS,
)
KEY_IF_ANY = OpenApiParameter(
    KEY_HEADER, KEY_SHAPE, OpenApiParameter.HEADER, required=False, description=SAYS
)


class CountShown(serializers.ModelSerializer[JobCount]):
    """How many runs of a stage stand at `key`: a state, or the verdict of judged ones."""

    class Meta:
        model = JobCount
        fields = ("stage", "key", "count")


@extend_schema_serializer(examples=[example("A job at work", JOB)])
class JobShown(serializers.ModelSerializer[Job]):
    """One request. The counts add up to every run that was planned; `stage` is the open one."""

    site = serializers.CharField(source="site.name")
    preset = serializers.CharField(source="preset.name", default=None, allow_null=True)
    requested_by = serializers.CharField(
        source="requested_by.username", default=None, allow_null=True, read_only=True
    )
    counts = CountShown(many=True)

    class Meta:
        model = Job
        fields: tuple[str, ...] = (
            "id",
            "site",
            "preset",
            "state",
            "verdict",
            "stage",
            "node_count",
            "counts",
            "requested_by",
            "created_at",
            "finished_at",
            "cancel_reason",
        )


class JobInFull(JobShown):
    """A job with its frozen steps: params, limits and recipe of each, as they decide."""

    steps = serializers.JSONField()

    class Meta(JobShown.Meta):
        fields = (*JobShown.Meta.fields, "steps")


class NewStep(Stated):
    """One test. Params may leave out what has a default; see the test's schema under `/tests`."""

    slug = Words(max_length=63)
    timeout_minutes = serializers.IntegerField(min_value=1, max_value=LONGEST_MINUTES)
    params = PlainObject(default=dict)
    stage = serializers.IntegerField(min_value=1, max_value=100, default=1)
    iterations = serializers.IntegerField(min_value=1, max_value=1000, default=1)
    is_gate = serializers.BooleanField(default=True)
    measure_only = serializers.BooleanField(default=False)
    max_attempts = serializers.IntegerField(min_value=1, max_value=MOST_ATTEMPTS, default=2)


@extend_schema_serializer(
    examples=[
        request_example("A preset on a rack", NEW_JOB),
        request_example("One test on two nodes", NEW_JOB_OF_STEPS),
    ]
)
class NewJob(Stated):
    """Either `preset` or `steps`. Each of `nodes` is a name or a host list like n[001-100]."""

    site = Words(max_length=63)
    preset = Words(max_length=63, required=False)
    steps = serializers.ListField(
        child=NewStep(), required=False, allow_empty=False, max_length=MOST_STEPS
    )
    nodes = serializers.ListField(
        child=Words(max_length=10_000), allow_empty=False, max_length=10_000
    )
    reason = serializers.CharField(max_length=1000, allow_blank=True, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("preset" in attrs) == ("steps" in attrs):
            raise serializers.ValidationError("give either preset or steps")
        return attrs

    def validate_nodes(self, nodes: list[str]) -> list[str]:
        try:
            return hostlist.expand_typed(",".join(nodes))
        except hostlist.BadHostList as error:
            raise serializers.ValidationError(str(error)) from error


class _Jobs(Rows[Job]):
    """What list and single job share."""

    site_field = "site"

    def rows(self) -> QuerySet[Job]:
        named = Job.objects.select_related("site", "preset", "requested_by")
        return named.prefetch_related("counts").defer("idempotency_key")


class Jobs(_Jobs, ListOf[Job]):
    """Jobs, the newest first."""

    serializer_class = JobShown
    filterset_class = JobFilter
    keys = ("-created_at", "-id")

    def rows(self) -> QuerySet[Job]:
        return super().rows().defer("idempotency_key", "steps")

    @extend_schema(
        request=NewJob,
        parameters=[KEY],
        responses={
            201: OpenApiResponse(JobShown, description="Planned."),
            200: OpenApiResponse(JobShown, description="This key has made it before."),
        },
    )
    def post(self, request: Request) -> Response:
        """Start a job. Nodes that cannot be used are listed as skipped, each with the reason."""
        key = idempotency_key(request)
        asked = NewJob(data=request.data)
        asked.is_valid(raise_exception=True)
        stated = asked.validated_data
        site = site_to_operate(request, stated["site"])
        stood = job_of(key, actor_of(request)) is not None
        try:
            job = plan_job(
                request_of(request, site, stated, key),
                store=wiring.store(),
                bells=wiring.bells(),
                now=timezone.now(),
            )
        except PlanRefused as error:
            raise Unprocessable(str(error)) from error
        shown = self.rows().get(pk=job.pk)
        answer = Response(JobShown(shown).data, status=200 if stood else 201)
        answer["Location"] = f"/api/v1/jobs/{job.pk}"
        return answer


class OneJob(_Jobs, OneOf[Job]):
    """One job with its frozen steps."""

    serializer_class = JobInFull
    what, listed_at = "job", "jobs"


def idempotency_key(request: Request) -> str:
    """Return the key that the caller gave the request. Raises ValidationError."""
    key = str(request.headers.get(KEY_HEADER, "")).strip()
    if not key or len(key) > LONGEST_KEY or not (key.isascii() and key.isprintable()):
        raise ValidationError(
            f"send a header {KEY_HEADER} of 1 to {LONGEST_KEY} printable ASCII characters: the "
            "same when you try again, another for another job"
        )
    return key


def request_of(request: Request, site: Site, stated: dict[str, Any], key: str) -> JobRequest:
    """Return what a valid NewJob asks for. Raises Unprocessable for a preset there is not."""
    preset = None
    if "preset" in stated:
        preset = Preset.objects.filter(name=stated["preset"]).first()
        if preset is None:
            raise Unprocessable(f"there is no preset {stated['preset']!r:.80}: see /api/v1/presets")
    return JobRequest(
        site=site,
        node_names=stated["nodes"],
        preset=preset,
        steps=[StepRequest(**step) for step in stated.get("steps", ())],
        by=actor_of(request),
        reason=stated["reason"],
        idempotency_key=key,
    )
