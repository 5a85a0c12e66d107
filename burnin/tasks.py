"""Celery at the hub: doorbells. Each looks up its site and calls one function of the workflow.

Nothing is retried: what fails is found again by the next tick, in the database.
"""

from celery import shared_task
from django.db.models import Exists, OuterRef

from burnin.models import Job, TestRun
from burnin.models.job import JobState
from burnin.states import RunState
from burnin.workflow import collect_site as collecting
from burnin.workflow import dispatch, reconcile, wiring
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
    """Send one reconcile to each site that has an unfinished job."""
    busy = Job.objects.exclude(state=JobState.DONE).values("site")
    for site_id in Site.objects.filter(pk__in=busy).values_list("pk", flat=True):
        reconcile_site.apply_async(kwargs={"site_id": site_id}, expires=30)


@shared_task
def dispatch_site(*, site_id: int, **_: object) -> None:
    dispatch.dispatch_site(
        Site.objects.get(pk=site_id),
        store=wiring.store(),
        queue=wiring.site_queue(),
        bundle=wiring.hub_bundle(),
        now=wiring.SystemClock().now(),
    )


@shared_task
def collect_site(*, site_id: int, **_: object) -> None:
    collecting.collect_site(
        Site.objects.get(pk=site_id),
        store=wiring.store(),
        queue=wiring.site_queue(),
        bells=wiring.bells(),
        now=wiring.SystemClock().now(),
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
