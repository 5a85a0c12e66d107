"""Cancel a job, or run again what it did not pass. Each asks why."""

from __future__ import annotations

import uuid
from collections.abc import Callable

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from burnin.dashboards import asks
from burnin.dashboards.form_keys import DamagedForm, sent_key, shown_key
from burnin.dashboards.reach import require_operator, seen_job
from burnin.models import Job
from burnin.models.audit import Actor
from burnin.workflow import wiring
from burnin.workflow.cancel import CancelRefused, cancel_job
from burnin.workflow.plan import PlanRefused
from burnin.workflow.rerun import rerun_errored, rerun_failed

Act = Callable[[HttpRequest, Job, str], Job]  # the job to show then; raises what is refused


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def cancel(request: HttpRequest, job_id: uuid.UUID) -> HttpResponse:
    return _answer(request, job_id, asks.cancel_of, _cancel)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def rerun_the_failed(request: HttpRequest, job_id: uuid.UUID) -> HttpResponse:
    return _answer(request, job_id, asks.rerun_failed_of, _by(rerun_failed))


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def rerun_the_errored(request: HttpRequest, job_id: uuid.UUID) -> HttpResponse:
    return _answer(request, job_id, asks.rerun_errored_of, _by(rerun_errored))


def _answer(
    request: HttpRequest, job_id: uuid.UUID, ask_of: Callable[[Job], asks.Ask], act: Act
) -> HttpResponse:
    """Ask why on GET; on POST do it, and say in one sentence why not."""
    job = seen_job(request, job_id)
    require_operator(request, job.site)
    ask = ask_of(job)
    if request.method != "POST":
        return _form(request, job, ask, "", status=200)
    reason = request.POST.get("reason", "")
    try:
        shown = act(request, job, reason)
    except (CancelRefused, DamagedForm, PlanRefused) as error:
        return _form(request, job, ask, str(error), status=409)
    return redirect("dashboards:job", shown.pk)


def _form(
    request: HttpRequest, job: Job, ask: asks.Ask, refusal: str, *, status: int
) -> HttpResponse:
    reason, key = request.POST.get("reason", ""), shown_key(request)
    context = {"job": job, "ask": ask, "refusal": refusal, "reason": reason, "key": key}
    return render(request, "dashboards/why.html", context, status=status)


def _cancel(request: HttpRequest, job: Job, reason: str) -> Job:
    queue, now = wiring.site_queue(), timezone.now()
    cancel_job(job, by=Actor.of(request.user), reason=reason, queue=queue, now=now)
    messages.success(request, "Cancelling: what runs ends when Slurm has ended it.")
    return job


def _by(rerun: Callable[..., Job]) -> Act:
    """Return what makes a new job by a function of `workflow/rerun.py`."""

    def act(request: HttpRequest, job: Job, reason: str) -> Job:
        again = rerun(
            job,
            by=Actor.of(request.user),
            reason=reason,
            store=wiring.store(),
            bells=wiring.bells(),
            now=timezone.now(),
            idempotency_key=sent_key(request),
        )
        messages.success(request, "A new job repeats what was not passed. This is it.")
        return again

    return act
