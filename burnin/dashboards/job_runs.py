"""The runs of a job as a list, and what they measured as an export."""

from __future__ import annotations

import uuid

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.urls import reverse

from burnin.dashboards.exports import Columns, export
from burnin.dashboards.filtered import rows_and_complaints
from burnin.dashboards.live import fragment
from burnin.dashboards.reach import seen_job
from burnin.models import MetricRow, TestRun
from burnin.models.job import JobState
from burnin.selectors.cursor import BadCursor, newest_first
from burnin.selectors.job_counts import shown_as
from burnin.selectors.metrics_filters import MetricFilter
from burnin.selectors.runs import metrics_of, names_of, runs_of
from burnin.selectors.runs_filters import CAUSES, STATES, VERDICTS, RunFilter
from burnin.slurm.hostlist import fold

ROWS_AT_ONCE = 500


@login_required
def runs(request: HttpRequest, job_id: uuid.UUID) -> HttpResponseBase:
    job = seen_job(request, job_id)
    rows, complaints = rows_and_complaints(RunFilter(request.GET, queryset=runs_of(job)))
    newest = rows.order_by("-moved_at", "-pk")
    exported = export(request, f"runs-{job.pk}", RUN_COLUMNS, newest.iterator(ROWS_AT_ONCE))
    if exported is not None:
        return exported
    try:
        page = newest_first(rows, "moved_at", request.GET.get("cursor"))
    except BadCursor as error:
        raise Http404(str(error)) from error
    context = {
        "job": job,
        "page": page,
        "runs": [
            (run, fold(names_of(run)), run.verdict or shown_as(run.state)) for run in page.rows
        ],
        "complaints": complaints,
        "is_done": job.state == JobState.DONE,
    }
    if request.GET.get("part") == "runs":
        template = "dashboards/fragments/runs.html"
        return fragment(request, template, context, is_final=job.state == JobState.DONE)
    choices = {
        "slugs": list(dict.fromkeys(step["slug"] for step in job.steps)),
        "states": STATES,
        "verdicts": VERDICTS,
        "causes": CAUSES,
    }
    return render(request, "dashboards/runs.html", {**context, **choices})


@login_required
def metrics(request: HttpRequest, job_id: uuid.UUID) -> HttpResponseBase:
    """Export every metric of the job; there is no page of them but that of each run."""
    job = seen_job(request, job_id)
    rows, _ = rows_and_complaints(MetricFilter(request.GET, queryset=metrics_of(job)))
    exported = export(request, f"metrics-{job.pk}", METRIC_COLUMNS, rows.iterator(ROWS_AT_ONCE))
    return exported or HttpResponseRedirect(reverse("dashboards:runs", args=[job.pk]))


RUN_COLUMNS: Columns[TestRun] = {
    "run": lambda run: str(run.pk),
    "nodes": lambda run: fold(names_of(run)),
    "test": lambda run: run.slug,
    "stage": lambda run: run.stage,
    "state": lambda run: run.state,
    "verdict": lambda run: run.verdict,
    "cause": lambda run: run.cause,
    "reason": lambda run: run.reason,
    "waits_because": lambda run: run.waits_because,
    "attempt": lambda run: run.attempt_number,
    "moved_at": lambda run: run.moved_at,
    "rerun_of": lambda run: str(run.rerun_of_id or ""),
}
METRIC_COLUMNS: Columns[MetricRow] = {
    "run": lambda row: str(row.result.run_id),
    "test": lambda row: row.result.run.slug,
    "node": lambda row: row.node.name if row.node else "",
    "verdict": lambda row: row.result.verdict,
    "metric": lambda row: row.name,
    "label": lambda row: row.label,
    "value": lambda row: row.value,
    "unit": lambda row: row.unit,
    "better": lambda row: row.better,
    "detail": lambda row: row.detail,
    "judged_at": lambda row: row.result.judged_at,
}
