"""Celery at the hub: doorbells. Each looks up its site and calls one function of the workflow.

Nothing is retried: what fails is found again by the next tick, in the database.
"""

from celery import shared_task
from django.db.models import Exists, OuterRef, Q

from burnin.models import Attempt, Job, TestRun, weighing
from burnin.models.job import JobState
from burnin.states import RunState
from burnin.workflow import collect_site as collecting
from burnin.workflow import dispatch, logs, reconcile, self_check, wiring
from burnin.workflow.bells import Bell
from fleet.models import Site


@shared_task
def tick(**_: object) -> None:
    """Wake what a lost bell should have woken: one task a step for each site with work."""
    finished = TestRun.objects.filter(site=OuterRef("pk"), state=RunState.FINISHED)
    planned = TestRun.objects.filter(site=OuterRef("pk"), state=RunState.PLANNED)
    sites = Site.objects.annotate(is_due=Exists(finished), is_waiting=Exists(planned))
    for site_id, is_due, is_waiting in sites.values_list("pk", "is_due", "is_waiting"):
        if is_due:
            wiring.bells().ring(Bell.COLLECT, site_id)
        if is_waiting:
            wiring.bells().ring(Bell.DISPATCH, site_id)


@shared_task
def reconcile_sites(**_: object) -> None:
    """Send one reconcile to each site that has an unfinished job, or a job of ours in Slurm."""
    busy = Job.objects.exclude(state=JobState.DONE).values("site")
    live = Attempt.objects.filter(ended_at=None).exclude(slurm_job_id="").values("run__site")
    sites = Site.objects.filter(Q(pk__in=busy) | Q(pk__in=live))
    for site_id in sites.values_list("pk", flat=True):
        reconcile_site.apply_async(kwargs={"site_id": site_id}, expires=30)


@shared_task
def look_around(**_: object) -> None:
    self_check.look_around(wiring.store(), wiring.SystemClock().now())


@shared_task
def weigh_standings(**_: object) -> None:
    """Weigh nodes whose evidence has expired, whose preset was edited, or that are new."""
    weighing.sweep(now=wiring.SystemClock().now())


@shared_task
def forget_old_logs(**_: object) -> None:
    logs.forget_old(wiring.SystemClock().now())


@shared_task
def dispatch_site(*, site_id: int, **_: object) -> None:
    dispatch.dispatch_site(
        Site.objects.get(pk=site_id),
        store=wiring.store(),
        queue=wiring.site_queue(),
        build=wiring.hub_bundle,
        now=wiring.SystemClock().now(),
    )


@shared_task
def collect_site(*, site_id: int, **_: object) -> None:
    collecting.collect_site(
        Site.objects.get(pk=site_id),
        store=wiring.store(),
        queue=wiring.site_queue(),
        bells=wiring.bells(),
        clock=wiring.SystemClock().now,
    )


@shared_task
def reconcile_site(*, site_id: int, **_: object) -> None:
    reconcile.reconcile_site(
        Site.objects.get(pk=site_id),
        store=wiring.store(),
        queue=wiring.site_queue(),
        bells=wiring.bells(),
        now=wiring.SystemClock().now(),
    )
