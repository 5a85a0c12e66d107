"""Finds every run that nobody is carrying, and puts it back on its way.

Whatever process died, this is what goes on. Each rule may be applied twice at no harm, and is
bounded: a site that comes back after an hour is not flooded.
"""

import logging
import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta

from django.db.models import F, Q, QuerySet

from burnin.models import Attempt, TestRun
from burnin.models.job import JobState
from burnin.models.set_sql import Change, Condition, SetWriter
from burnin.models.text import storable
from burnin.satellite.messages import KnownJob, RefreshOrder, TaskName
from burnin.slurm.states import NEVER_STARTS
from burnin.states import IN_FLIGHT, RunState
from burnin.storage.store import ArtifactStore
from burnin.workflow import orders, stages
from burnin.workflow.bells import Bell, Bells
from burnin.workflow.plan import why_unfit
from burnin.workflow.site_queue import QueueUnreachable, SiteQueue
from burnin.workflow.sites import alone_at, why_silent
from fleet.models import Node, Site

log = logging.getLogger(__name__)

RESENT_AFTER = timedelta(seconds=orders.ORDER_LIVES_S)
RESENT_PER_PASS = 300
CANCELLED_PER_PASS = 500
REFRESHED_PER_PASS = 1000
UNSEEN_FOR = timedelta(seconds=200)  # longer than satellites wait between full reports
STALE_REASON = timedelta(seconds=20)  # a pending reason may be stale for one look
UNUSABLE_FOR = timedelta(minutes=15)
EXCLUDED, UNUSABLE = ~Q(excluded_because=""), Q(is_usable=False)


def reconcile_site(
    site: Site, *, store: ArtifactStore, queue: SiteQueue, bells: Bells, now: datetime
) -> None:
    """Apply every rule once. An absent satellite is asked for nothing; its runs just wait."""
    is_silent = bool(why_silent(site, now))
    # What a silent site once said of its nodes is old: patience with them begins anew.
    _give_up_on_nodes(site, EXCLUDED if is_silent else EXCLUDED | UNUSABLE, now)
    if not is_silent:
        _drop_unsubmitted(site, now)
        _end_never_starting(site, now)
        try:
            if site.is_enabled:
                resend(site, store=store, queue=queue, now=now)
            _cancel_unwanted(site, queue)
            _cancel_leftovers(site, queue)
            _refresh_unseen(site, queue, now)
        except QueueUnreachable as error:
            log.warning("%s; the next pass tries again", error)
    stages.advance_site(site, now)
    bells.ring(Bell.DISPATCH, site.pk)
    bells.ring(Bell.COLLECT, site.pk)


def resend(site: Site, *, store: ArtifactStore, queue: SiteQueue, now: datetime) -> int:
    """Send again the orders that nobody has answered; the claims at the site keep them single."""
    unanswered = _overdue(site, now, RESENT_AFTER).filter(cancel_reason="")
    ids = unanswered.order_by("moved_at").values_list("id", flat=True)[:RESENT_PER_PASS]
    runs = TestRun.objects.claim(ids, RunState.DISPATCHED, for_=RESENT_AFTER, now=now)
    numbers = Q(number=F("run__attempt_number"))
    attempts = list(Attempt.objects.filter(numbers, run__in=runs).order_by("asked_at"))
    orders.send_submits(site, attempts, store=store, queue=queue)
    return len(attempts)


def _overdue(site: Site, now: datetime, age: timedelta) -> QuerySet[TestRun]:
    """Return the runs that were handed to the site and have a lease on nobody's desk."""
    due = Q(carried_until__lte=now) | Q(carried_until=None, moved_at__lte=now - age)
    return TestRun.objects.filter(due, site=site, state=RunState.DISPATCHED)


def _drop_unsubmitted(site: Site, now: datetime) -> None:
    """Skip cancelled runs whose order is dead by now. A job that shows up later is ended."""
    cancelled = _overdue(site, now, RESENT_AFTER).exclude(cancel_reason="")
    reasons = dict(cancelled.values_list("id", "cancel_reason"))
    with alone_at(site):
        stages.skip(reasons, now, before=RunState.DISPATCHED)


def _end_never_starting(site: Site, now: datetime) -> None:
    """Have the jobs ended of which Slurm says that they can never start."""
    hopeless = TestRun.objects.filter(
        site=site,
        state=RunState.SUBMITTED,
        cancel_reason="",
        waits_because__startswith=NEVER_STARTS,
        attempts__number=F("attempt_number"),
        attempts__observed_at__lte=now - STALE_REASON,
    )
    reasons = dict(hopeless.values_list("id", "waits_because"))
    rows = [{"id": run_id, "cancel_reason": reason} for run_id, reason in reasons.items()]
    SetWriter(TestRun, "default").update(rows, _ended_while_queued())


def _cancel_unwanted(site: Site, queue: SiteQueue) -> None:
    unwanted = TestRun.objects.filter(site=site, state__in=IN_FLIGHT).exclude(cancel_reason="")
    for reason in unwanted.values_list("cancel_reason", flat=True).distinct():
        attempts = Attempt.objects.filter(
            number=F("run__attempt_number"),
            run__in=unwanted.filter(cancel_reason=reason)[:CANCELLED_PER_PASS],
        )
        tokens = [each.token for each in attempts.only("run_id", "number")]
        orders.send_cancels(site, tokens, reason=reason, queue=queue)


def _cancel_leftovers(site: Site, queue: SiteQueue) -> None:
    """End jobs that carry no run any more: nobody would ever read what they measure."""
    is_over = Q(run__state__in=[RunState.JUDGED, RunState.PLANNED])
    leftovers = _live(site).filter(is_over | Q(number__lt=F("run__attempt_number")))
    tokens = [each.token for each in leftovers[:CANCELLED_PER_PASS]]
    orders.send_cancels(site, tokens, reason="its run goes on without it", queue=queue)


def _refresh_unseen(site: Site, queue: SiteQueue, now: datetime) -> None:
    """Ask what became of jobs that the site has not spoken of for long."""
    unseen = Q(observed_at__lte=now - UNSEEN_FOR) | Q(
        observed_at=None, submitted_at__lte=now - UNSEEN_FOR
    )
    jobs = tuple(
        KnownJob(run_id=str(each.run_id), attempt=each.number, job_id=each.slurm_job_id)
        for each in _live(site).filter(unseen).order_by("observed_at")[:REFRESHED_PER_PASS]
    )
    if jobs:
        order = RefreshOrder(jobs=jobs)
        queue.send(site.name, TaskName.REFRESH, order, expires_s=orders.ORDER_LIVES_S)


def _live(site: Site) -> QuerySet[Attempt]:
    """Return the attempts whose Slurm job has not ended as far as we know."""
    live = Attempt.objects.filter(ended_at=None, run__site=site).exclude(slurm_job_id="")
    return live.only("run_id", "number", "slurm_job_id")


def _give_up_on_nodes(site: Site, are_bad: Q, now: datetime) -> None:
    """Skip runs whose node stays bad; those that Slurm has queued are ended for that."""
    waiting = TestRun.objects.filter(site=site, job__state=JobState.ACTIVE, cancel_reason="")
    planned = waiting.filter(state=RunState.PLANNED, stage=F("job__stage"))
    queued = waiting.filter(state=RunState.SUBMITTED)
    bad = Node.objects.filter(are_bad, site=site)
    why = {node.pk: why_unfit(node) for node in bad}
    with alone_at(site):
        lost = planned.filter(pk__in=_patience_lost(planned, why, now))
        stages.let_go(lost, why, now)
        hopeless = _patience_lost(queued, why, now)
        rows = [{"id": run_id, "cancel_reason": words} for run_id, words in hopeless.items()]
        SetWriter(TestRun, "default").update(rows, _ended_while_queued())


def _ended_while_queued() -> Change:
    """What gives runs a reason to be cancelled, but not those that have started meanwhile."""
    still = Condition("state = %s", (("state", RunState.SUBMITTED.value),))
    return Change(still, own=("cancel_reason",))


def _patience_lost(
    runs: QuerySet[TestRun], why: Mapping[int, str], now: datetime
) -> dict[uuid.UUID, str]:
    """Return the runs whose node was unusable for too long, and begin to count for the others.

    Of such a run `carried_until` is when patience ends.
    """
    stuck = runs.filter(members__node_id__in=why)
    counted: dict[uuid.UUID, dict[str, object]] = {}
    lost = {}
    for run_id, node_id, until in stuck.values_list("id", "members__node_id", "carried_until"):
        if until is None:
            words, until = storable(why[node_id], limit=500), now + UNUSABLE_FOR
            counted[run_id] = {"id": run_id, "waits_because": words, "carried_until": until}
        elif until <= now:
            lost[run_id] = why[node_id]
    patience = Change(own=("waits_because", "carried_until"))
    SetWriter(TestRun, "default").update(list(counted.values()), patience)
    recovered = runs.exclude(carried_until=None).exclude(members__node_id__in=why)
    recovered.update(waits_because="", carried_until=None)
    return lost
