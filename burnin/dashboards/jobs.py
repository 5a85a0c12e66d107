"""Every job, newest first."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from django.contrib.auth.decorators import login_required
from django.db.models import QuerySet
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone

from burnin.dashboards.exports import export
from burnin.dashboards.filtered import rows_and_complaints
from burnin.dashboards.live import fragment
from burnin.models import Job, Preset
from burnin.models.job import JobState
from burnin.selectors.chunks import chunks
from burnin.selectors.cursor import BadCursor, newest_first
from burnin.selectors.job_counts import SHOWN
from burnin.selectors.jobs import ListedJob, jobs_at, listed
from burnin.selectors.jobs_filters import JOB_VERDICTS, JobFilter
from fleet.access import sites_of

ROWS_AT_ONCE = 500


@login_required
def jobs(request: HttpRequest) -> HttpResponseBase:
    sites = sites_of(request.user)
    rows, complaints = rows_and_complaints(JobFilter(request.GET, queryset=jobs_at(sites)))
    exported = export(request, "jobs", _columns(), _every(rows))
    if exported is not None:
        return exported
    try:
        page = newest_first(rows, "created_at", request.GET.get("cursor"))
    except BadCursor as error:
        raise Http404(str(error)) from error
    shown = listed(page.rows, timezone.now())
    context = {
        "page": page,
        "jobs": shown,
        "complaints": complaints,
        "is_filtered": any(request.GET.get(name) for name in JobFilter.base_filters),
    }
    if request.GET.get("part") == "jobs":
        # On the first page another job may show up at any time.
        is_final = not page.is_first and all(each.job.state == JobState.DONE for each in shown)
        return fragment(request, "dashboards/fragments/jobs.html", context, is_final=is_final)
    choices = {
        "sites": list(sites.values_list("name", flat=True)),
        "presets": list(Preset.objects.values_list("name", flat=True)),
        "states": JobState.choices,
        "verdicts": JOB_VERDICTS,
    }
    return render(request, "dashboards/jobs.html", {**context, **choices})


def _every(rows: QuerySet[Job]) -> Iterator[ListedJob]:
    newest = rows.order_by("-created_at", "-pk").iterator(ROWS_AT_ONCE)
    for chunk in chunks(newest, ROWS_AT_ONCE):
        yield from listed(chunk, timezone.now())


def _columns() -> dict[str, Callable[[ListedJob], object]]:
    counts = {state: _count_of(state) for state in map(str, SHOWN)}
    return {
        "job": lambda each: str(each.job.pk),
        "site": lambda each: each.job.site.name,
        "preset": lambda each: each.job.preset.name if each.job.preset else "",
        "state": lambda each: each.job.state,
        "verdict": lambda each: each.job.verdict,
        "nodes": lambda each: each.job.node_count,
        "runs": lambda each: each.total,
        **counts,
        "requested_by": lambda each: getattr(each.job.requested_by, "username", ""),
        "created_at": lambda each: each.job.created_at,
        "finished_at": lambda each: each.job.finished_at,
        "cancel_reason": lambda each: each.job.cancel_reason,
    }


def _count_of(state: str) -> Callable[[ListedJob], object]:
    return lambda each: each.counts[state]
