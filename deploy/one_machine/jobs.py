"""The jobs of this machine: planned once, told as they are judged, cancelled when all ends."""

from collections.abc import Callable
from datetime import datetime

from django.contrib.auth.models import User
from django.db.models import QuerySet

from burnin.models import Job, Preset, TestRun
from burnin.models.audit import Actor
from burnin.models.job import JobState
from burnin.states import RunState
from burnin.storage.store import ArtifactStore
from burnin.workflow.bells import Bells
from burnin.workflow.cancel import CancelRefused, cancel_job
from burnin.workflow.plan import JobRequest, plan_job
from burnin.workflow.site_queue import SiteQueue
from deploy.one_machine.place import LOGIN_NAME
from fleet.models import Site

WHO = "make run"


def key_of(token: str) -> str:
    """Return the idempotency key of the burn-in of one start."""
    return f"make-run-{token}"


def burn_in(
    site: Site,
    node_name: str,
    preset: Preset,
    token: str,
    *,
    store: ArtifactStore,
    bells: Bells,
    now: datetime,
) -> Job:
    """Plan the preset on this machine; asked again with the same token, return the same job.

    Raises PlanRefused.
    """
    request = JobRequest(
        site,
        [node_name],
        preset=preset,
        by=Actor(WHO, User.objects.get(username=LOGIN_NAME)),
        idempotency_key=key_of(token),
    )
    return plan_job(request, store=store, bells=bells, now=now)


def unfinished(site: Site) -> QuerySet[Job]:
    return Job.objects.filter(site=site).exclude(state=JobState.DONE)


def cancel_jobs(site: Site, reason: str, *, queue: SiteQueue, now: datetime) -> None:
    """Wish that every job of the site ends; those that were just done are."""
    for job in unfinished(site):
        try:
            cancel_job(job, by=Actor(WHO), reason=reason, queue=queue, now=now)
        except CancelRefused:
            continue


class Verdicts:
    """Tells each run that is judged, once, as one line."""

    def __init__(self, site: Site, since: datetime, say: Callable[[str], None]) -> None:
        self._site, self._since, self._say = site, since, say
        self._told: set[object] = set()

    def tell(self) -> None:
        """Tell what was judged since the last time."""
        judged = TestRun.objects.filter(
            site=self._site, state=RunState.JUDGED, moved_at__gte=self._since
        )
        for run in judged.order_by("moved_at", "step"):
            if run.pk not in self._told:
                self._say(line(run))
            if run.moved_at > self._since:
                self._since = run.moved_at
            self._told.add(run.pk)


def line(run: TestRun) -> str:
    """Return time (UTC), test, verdict and reason of a judged run."""
    return f"{run.moved_at:%H:%M:%S}  {run.slug:<27}  {run.verdict.upper():<12}  {run.reason}"
