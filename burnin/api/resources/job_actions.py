"""What can be done to a job: cancel it, or repeat what it did not pass."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_serializer
from rest_framework.request import Request
from rest_framework.response import Response

from burnin.api.callers import actor_of
from burnin.api.errors import Conflict, Unprocessable
from burnin.api.examples import RERUN, WHY, request_example
from burnin.api.fields import Choice, Stated, Words
from burnin.api.permissions import require_operated
from burnin.api.resources.jobs import (
    KEY_HEADER,
    KEY_IF_ANY,
    JobShown,
    OneJob,
    idempotency_key,
)
from burnin.models import Job
from burnin.workflow import wiring
from burnin.workflow.asked_before import job_of
from burnin.workflow.cancel import CancelRefused, cancel_job
from burnin.workflow.plan import PlanRefused
from burnin.workflow.rerun import rerun_errored, rerun_failed

REPEATS = {"failed": rerun_failed, "errored": rerun_errored}


@extend_schema_serializer(examples=[request_example("Cancel", WHY)])
class Why(Stated):
    """The reason is kept in the audit, and with every run that it touches."""

    reason = Words(max_length=500)


@extend_schema_serializer(examples=[request_example("After a repair", RERUN)])
class WhatAndWhy(Why):
    """`failed` repeats nodes that failed or vanished, `errored` those that were not measured."""

    what = Choice(sorted(REPEATS))


class _Action(OneJob):
    """An act on a job, at a site that the caller operates."""

    http_method_names = ("post", "options")

    def operated(self, request: Request) -> Job:
        job = self.find()
        require_operated(request, job.site)
        return job

    def shown(self, job: Job) -> Any:
        return JobShown(self.rows().get(pk=job.pk)).data


class CancelJob(_Action):
    """End a job: what is planned is skipped now, the rest when Slurm has ended it."""

    @extend_schema(request=Why, responses={202: JobShown})
    def post(self, request: Request, **_: Any) -> Response:
        job = self.operated(request)
        asked = Why(data=request.data)
        asked.is_valid(raise_exception=True)
        try:
            cancel_job(
                job,
                by=actor_of(request),
                reason=asked.validated_data["reason"],
                queue=wiring.site_queue(),
                now=timezone.now(),
            )
        except CancelRefused as error:
            raise Conflict(str(error)) from error
        return Response(self.shown(job), status=202)


class RerunJob(_Action):
    """Plan again what a job did not pass, as a new job with the same frozen steps."""

    @extend_schema(
        request=WhatAndWhy,
        parameters=[KEY_IF_ANY],
        responses={
            201: OpenApiResponse(JobShown, description="Planned."),
            200: OpenApiResponse(JobShown, description="This key has made it before."),
        },
    )
    def post(self, request: Request, **_: Any) -> Response:
        """Repeat it. Without a key a request that is sent again is another job."""
        job = self.operated(request)
        key = idempotency_key(request) if KEY_HEADER in request.headers else ""
        asked = WhatAndWhy(data=request.data)
        asked.is_valid(raise_exception=True)
        stood = job_of(key, actor_of(request)) is not None
        try:
            again = REPEATS[asked.validated_data["what"]](
                job,
                by=actor_of(request),
                reason=asked.validated_data["reason"],
                store=wiring.store(),
                bells=wiring.bells(),
                now=timezone.now(),
                idempotency_key=key,
            )
        except PlanRefused as error:
            raise Unprocessable(str(error)) from error
        answer = Response(self.shown(again), status=200 if stood else 201)
        answer["Location"] = f"/api/v1/jobs/{again.pk}"
        return answer
