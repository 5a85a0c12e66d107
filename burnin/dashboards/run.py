"""One run: its verdict and what that rests on, and everything that happened on the way."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render

from burnin.dashboards.live import fragment
from burnin.dashboards.numbers_in_addresses import whole_number
from burnin.dashboards.plots import BoundPlot, bound_plot
from burnin.dashboards.reach import seen_run
from burnin.dashboards.rerun_link import rerun_of
from burnin.dashboards.run_pairs import pairs_shown
from burnin.dashboards.wording import duration
from burnin.hardware_tests.registry import UnknownSlug, get_test_class
from burnin.models import Artifact, Attempt, TestRunEvent
from burnin.selectors.job_counts import shown_as
from burnin.selectors.run import RunPage, ShownMetric, run_page
from burnin.slurm.hostlist import fold
from burnin.states import RunState
from burnin.storage.store import StoreRefused, StoreUnreachable
from burnin.workflow import wiring
from burnin.workflow.logs import NAMES
from fleet.access import may_operate

LINK_LIVES_S = 60


@login_required
def run(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    shown = seen_run(request, run_id)
    page = run_page(shown, whole_number(request, "attempt"))
    may_act = may_operate(request.user, shown.site)
    context = {
        **_context(page),
        "pairs": pairs_shown(request, page),
        "rerun": rerun_of(shown) if may_act else None,
    }
    if request.GET.get("part") == "run":
        template = "dashboards/fragments/run.html"
        return fragment(request, template, context, is_final=context["is_final"])
    return render(request, "dashboards/run.html", context)


@login_required
def artifact(request: HttpRequest, run_id: uuid.UUID, artifact_id: int) -> HttpResponse:
    """Redirect to a link of the store that reads this one file, for a minute."""
    shown = seen_run(request, run_id)
    kept = Artifact.objects.filter(pk=artifact_id, attempt__run=shown).first()
    if kept is None:
        raise Http404("this run has no such artifact")
    filename = f"{str(shown.pk)[:8]}-{kept.name}"
    try:
        url = wiring.store().download_url(kept.key, expires_s=LINK_LIVES_S, filename=filename)
    except (StoreUnreachable, StoreRefused) as error:
        return render(request, "dashboards/unreachable.html", {"says": str(error)}, status=503)
    response = redirect(url)
    response["Cache-Control"] = "private, no-store"
    return response


def _context(page: RunPage) -> dict[str, Any]:
    shown = page.run
    is_final = shown.state == RunState.JUDGED
    return {
        "page": page,
        "run": shown,
        "job": shown.job,
        "nodes": fold([node.name for node in page.nodes]),
        "state": shown.verdict or shown_as(shown.state),
        "is_final": is_final,
        "metrics": [(each, _plot(each), _limit_state(each)) for each in page.metrics],
        "iterations": _iterations(page),
        "timeline": [(each, _said(each, page)) for each in page.events],
        "slurm": _slurm(page.attempt, shown.slug) if page.attempt else [],
        "log_names": NAMES if page.attempt else (),
        "took_s": _seconds(page.events[0].at, page.events[-1].at) if page.events else None,
    }


def _plot(metric: ShownMetric) -> BoundPlot | None:
    if metric.passed is None or metric.limit is None or metric.value is None:
        return None
    return bound_plot(metric.value, metric.limit, metric.bound["better"])


def _limit_state(metric: ShownMetric) -> str:
    """Return the look of a metric: of one that no gate asked, that it was measured."""
    return {True: "passed", False: "failed", None: "measured"}[metric.passed]


def _iterations(page: RunPage) -> dict[str, Any] | None:
    """Return how the iterations went, with each metric's label and unit."""
    kept = page.result.iterations if page.result else None
    if not kept:
        return None
    named = {each.name: each for each in page.metrics}
    rows = [(named[name], summary) for name, summary in kept["metrics"].items() if name in named]
    total = kept["passed"] + kept["failed"] + kept["errored"]
    return {"passed": kept["passed"], "total": total, "rows": rows}


_WORDS = {
    RunState.PLANNED.value: "Planned",
    RunState.DISPATCHED.value: "Sent",
    RunState.SUBMITTED.value: "Submitted",
    RunState.RUNNING.value: "Started",
    RunState.FINISHED.value: "Ended",
    RunState.JUDGED.value: "Judged",
}


def _said(event: TestRunEvent, page: RunPage) -> tuple[str, str, str]:
    """Return an event's look, its word, and what it says."""
    if event.after == RunState.JUDGED:
        note = event.note.partition(": ")[2] or event.note or page.run.reason
        return page.run.verdict, f"Judged {page.run.verdict}", note
    note = event.note
    if event.after == RunState.PLANNED:
        note = note or f"stage {page.run.stage}, step {page.run.step} of {len(page.run.job.steps)}"
    if event.after == RunState.DISPATCHED:
        note = note or f"to site {page.run.site.name}"
    return "passed", _WORDS.get(event.after, event.after), note


def _slurm(attempt: Attempt, slug: str) -> list[tuple[str, str]]:
    """Return what Slurm said of an attempt, in the order in which it is asked."""
    asked = attempt.context.get("node_names") or []
    limit_s = attempt.context.get("time_limit_s")
    exits = (
        f"exit {attempt.exit_code or 'unknown'}, derived {attempt.derived_exit_code or 'unknown'}"
    )
    facts = [
        ("Slurm job", attempt.slurm_job_id or f"none yet, submission {attempt.submission}"),
        ("State", f"{attempt.slurm_state}, {exits}" if attempt.slurm_state else ""),
        ("Reason", attempt.slurm_reason),
        ("Asked for", fold(asked) if asked else "any node"),
        ("Got", attempt.node_list),
        ("Queued", _span(attempt.submitted_at, attempt.started_at or attempt.ended_at)),
        ("Ran", _ran(attempt, limit_s)),
        ("Done", _done_about(attempt, slug)),
        ("Runner", f"sha256 {attempt.bundle_sha256[:12]}…"),
        ("Late files", attempt.relay_words),
    ]
    return [(name, text) for name, text in facts if text]


def _ran(attempt: Attempt, limit_s: int | None) -> str:
    took = _span(attempt.started_at, attempt.ended_at)
    return f"{took} of {limit_s // 60} min" if took and limit_s else took


def _done_about(attempt: Attempt, slug: str) -> str:
    """Say when a run that has not ended may be done, by how long its recipe takes."""
    if attempt.started_at is None or attempt.ended_at is not None:
        return ""
    try:
        one_s = get_test_class(slug).expected_duration_s(attempt.context["params"])
    except (UnknownSlug, KeyError):
        return ""
    whole_s = one_s * int(attempt.context.get("iterations", 1))
    at = attempt.started_at + timedelta(seconds=whole_s)
    return f"about {at:%Y-%m-%d %H:%M} UTC: its recipe takes {duration(whole_s)}"


def _span(begin: datetime | None, end: datetime | None) -> str:
    return duration(_seconds(begin, end)) if begin and end else ""


def _seconds(begin: datetime, end: datetime) -> float:
    return max(0.0, (end - begin).total_seconds())
