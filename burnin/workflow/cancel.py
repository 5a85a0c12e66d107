"""Ends what an operator no longer wants. A wish: what already runs ends when Slurm says so."""

import logging
import uuid
from collections.abc import Collection
from datetime import datetime, timedelta

from django.db.models import F, QuerySet

from burnin.models import Attempt, AuditEntry, Job, TestRun
from burnin.models.audit import Action, Actor
from burnin.models.job import JobState
from burnin.models.text import storable
from burnin.states import IN_FLIGHT, RunState
from burnin.workflow import orders, stages
from burnin.workflow.site_queue import QueueUnreachable, SiteQueue
from burnin.workflow.sites import alone_at
from fleet.models import Site

log = logging.getLogger(__name__)

# Longer than an order lives: after it, a job that nobody has seen was never submitted.
SETTLES_AFTER = timedelta(seconds=3 * orders.ORDER_LIVES_S)


class CancelRefused(Exception):
    """Nothing was cancelled; the message says why."""


def cancel_job(job: Job, *, by: Actor, reason: str, queue: SiteQueue, now: datetime) -> None:
    """End the job: planned runs are skipped now, the others when Slurm has ended them.

    Asked again, changes nothing. Raises CancelRefused.
    """
    words = _words(by, reason)
    with alone_at(job.site):
        active = Job.objects.filter(pk=job.pk, state=JobState.ACTIVE)
        if not active.update(state=JobState.CANCELLING, cancel_reason=words):
            _refuse_if_done(job)
        AuditEntry.objects.write(by, Action.CANCEL_JOB, job, site=job.site, reason=reason, now=now)
        runs = TestRun.objects.filter(job=job).exclude(state=RunState.JUDGED)
        _cancel(runs, words, now)
        job.refresh_from_db()
        stages.advance(job, now)
    job.refresh_from_db()
    send_cancels(job.site, words, queue, TestRun.objects.filter(job=job))


def cancel_runs(
    site: Site,
    run_ids: Collection[uuid.UUID],
    *,
    by: Actor,
    reason: str,
    queue: SiteQueue,
    now: datetime,
) -> None:
    """End these runs of the site; those judged already stay as they are. Raises CancelRefused."""
    words = _words(by, reason)
    runs = TestRun.objects.filter(site=site, pk__in=run_ids)
    with alone_at(site):
        for run in runs.exclude(state=RunState.JUDGED):
            AuditEntry.objects.write(by, Action.CANCEL_RUNS, run, site=site, reason=reason, now=now)
        _cancel(runs, words, now)
        for job in Job.objects.filter(runs__in=run_ids).distinct():
            stages.advance(job, now)
    send_cancels(site, words, queue, runs)


def send_cancels(site: Site, reason: str, queue: SiteQueue, runs: QuerySet[TestRun]) -> None:
    """Tell the site to end those of the runs that it may have and that someone wants ended."""
    unwanted = runs.filter(state__in=IN_FLIGHT).exclude(cancel_reason="")
    newest = Attempt.objects.filter(run__in=unwanted, number=F("run__attempt_number"))
    attempts = newest.only("run_id", "number")
    tokens = [each.token for each in attempts]
    try:
        orders.send_cancels(site, tokens, reason=reason, queue=queue)
    except QueueUnreachable as error:
        log.warning("%s; reconcile sends the cancellation again", error)


def _words(by: Actor, reason: str) -> str:
    if not reason.strip():
        raise CancelRefused("say why it is cancelled: the reason is kept with every run")
    return storable(f"cancelled by {by}: {reason.strip()}", limit=1000)


def _refuse_if_done(job: Job) -> None:
    job.refresh_from_db()
    if job.state == JobState.DONE:
        raise CancelRefused(
            f"job {job.pk} is done already ({job.verdict}): there is nothing to end"
        )


def _cancel(runs: QuerySet[TestRun], words: str, now: datetime) -> None:
    planned = runs.filter(state=RunState.PLANNED).values_list("id", flat=True)
    stages.skip(dict.fromkeys(planned, words), now)
    unheard = runs.filter(cancel_reason="")
    unheard.filter(state=RunState.DISPATCHED).update(carried_until=now + SETTLES_AFTER)
    # Nobody waits any longer for the artifacts of a finished one.
    unheard.filter(state=RunState.FINISHED).update(carried_until=None, in_hand=False)
    unheard.filter(state__in=[*IN_FLIGHT, RunState.FINISHED]).update(cancel_reason=words)
