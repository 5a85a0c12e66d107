"""What became of jobs, and the three things that can be done to them."""

from __future__ import annotations

from collections.abc import Callable

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.html import format_html
from unfold.paginator import InfinitePaginator

from burnin.admin.asking import Question, ask_then, key_of
from burnin.models import Job, JobCount
from burnin.models.audit import Actor
from burnin.workflow import wiring
from burnin.workflow.cancel import CancelRefused, cancel_job
from burnin.workflow.plan import PlanRefused
from burnin.workflow.rerun import rerun_errored, rerun_failed
from fleet.admin_scope import ByRole, ReadRows, SiteFilter

Act = Callable[[HttpRequest, Job, str], str]  # does it and says what was done
REFUSALS = (CancelRefused, PlanRefused)


class CountRows(ReadRows):
    model = JobCount


@admin.register(Job)
class JobAdmin(ByRole):
    site_path, edited_by = "site", None
    list_display = ("page", "site", "preset", "state", "verdict", "node_count", "created_at")
    list_select_related = ("site", "preset")
    list_filter = ("state", "verdict", ("site", SiteFilter))
    search_fields = ("=id",)
    paginator = InfinitePaginator
    list_disable_select_all = True
    inlines = (CountRows,)
    actions = ("cancel", "rerun_the_failed", "rerun_the_errored")

    @admin.display(description="job", ordering="created_at")
    def page(self, job: Job) -> str:
        return format_html('{} <a href="/jobs/{}/">see it</a>', str(job.pk)[:8], job.pk)

    @admin.action(description="Cancel the selected jobs", permissions=["operate"])
    def cancel(self, request: HttpRequest, jobs: QuerySet[Job]) -> HttpResponse | None:
        question = Question(
            "cancel",
            "Cancel jobs",
            "What waits is skipped at once, what runs ends when Slurm has ended it. Results so "
            "far are kept.",
            "Cancel jobs",
        )
        return self._ask_then(request, jobs, question, _cancel)

    @admin.action(description="Re-run failed", permissions=["operate"])
    def rerun_the_failed(self, request: HttpRequest, jobs: QuerySet[Job]) -> HttpResponse | None:
        question = Question(
            "rerun_the_failed",
            "Re-run failed",
            "A new job for each repeats, on every node that failed or vanished, what it did not "
            "pass, with the same params and bounds.",
            "Re-run",
        )
        return self._ask_then(request, jobs, question, _by(rerun_failed))

    @admin.action(description="Re-run errored", permissions=["operate"])
    def rerun_the_errored(self, request: HttpRequest, jobs: QuerySet[Job]) -> HttpResponse | None:
        question = Question(
            "rerun_the_errored",
            "Re-run errored",
            "A new job for each repeats, on every node where a test could not be measured, what "
            "it did not pass, with the same params and bounds.",
            "Re-run",
        )
        return self._ask_then(request, jobs, question, _by(rerun_errored))

    def _ask_then(
        self, request: HttpRequest, jobs: QuerySet[Job], question: Question, act: Act
    ) -> HttpResponse | None:
        operated = self.operated(request, jobs).select_related("site", "preset")

        def done(job: Job, reason: str) -> str:
            return act(request, job, reason)

        return ask_then(self, request, question, operated, done, refusals=REFUSALS)


def _cancel(request: HttpRequest, job: Job, reason: str) -> str:
    queue, now = wiring.site_queue(), timezone.now()
    cancel_job(job, by=Actor.of(request.user), reason=reason, queue=queue, now=now)
    return "cancelling"


def _by(rerun: Callable[..., Job]) -> Act:
    """Return what makes a new job by a function of `workflow/rerun.py`."""

    def act(request: HttpRequest, job: Job, reason: str) -> str:
        again = rerun(
            job,
            by=Actor.of(request.user),
            reason=reason,
            store=wiring.store(),
            bells=wiring.bells(),
            now=timezone.now(),
            idempotency_key=key_of(request, job),
        )
        return f"job {again.pk} repeats it"

    return act
