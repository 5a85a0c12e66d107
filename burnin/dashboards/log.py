"""What a run has written: numbered lines with permalinks, live while it grows, and the raw file."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone

from burnin.dashboards.live import STOP_POLLING
from burnin.dashboards.numbers_in_addresses import whole_number
from burnin.dashboards.reach import seen_run
from burnin.models import Artifact, TestRun
from burnin.selectors.log_window import (
    EDGE_LINES,
    PIECE_BYTES,
    LogSource,
    LogWindow,
    new_lines,
    window,
)
from burnin.storage.store import ObjectMissing, StoreRefused, StoreUnreachable
from burnin.workflow import wiring
from burnin.workflow.follow_log import follow_log
from burnin.workflow.logs import NAMES

NO_ANSWER = (StoreUnreachable, StoreRefused, ObjectMissing)
STDOUT = "stdout.txt"
MORE_FOLLOWS = "more lines follow while the run writes"


@login_required
def log(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    run = seen_run(request, run_id)
    source = _source(request, run)
    views = {"tail": _tail, "lines": _first_lines}
    view = views.get(request.GET.get("part", ""), _page)
    try:
        return view(request, source)
    except NO_ANSWER as error:
        return _unreachable(request, error)


@login_required
def raw(request: HttpRequest, run_id: uuid.UUID) -> HttpResponseBase:
    """Send the whole log: by a link of the store once it is there, else from what came so far."""
    run = seen_run(request, run_id)
    source = _source(request, run)
    number = run.attempt_number if source.attempt is None else source.attempt
    kept = Artifact.objects.filter(attempt__run=run, attempt__number=number, name=source.name)
    if collected := kept.first():
        return redirect("dashboards:artifact", run.pk, collected.pk)
    try:
        total = source.read(0, 0).total
    except NO_ANSWER as error:
        return _unreachable(request, error)
    response = StreamingHttpResponse(
        _bytes(source, total), content_type="text/plain; charset=utf-8"
    )
    filename = f"{str(run.pk)[:8]}-{source.name}"
    response["Content-Disposition"] = f'attachment; filename="{filename}"'
    response["Cache-Control"] = "private, no-store"
    return response


def _source(request: HttpRequest, run: TestRun) -> LogSource:
    name = request.GET.get("name", STDOUT)
    if name not in NAMES:
        raise Http404(f"a run has no log {name[:40]!r}: ask for {', '.join(NAMES)}")
    attempt = whole_number(request, "attempt")
    return LogSource(run, name, attempt, wiring.store())


def _page(request: HttpRequest, source: LogSource) -> HttpResponse:
    wanted = whole_number(request, "line")
    shown = window(source, around=wanted)
    attempts = list(source.run.attempts.order_by("number").values_list("number", flat=True))
    context = {
        **_lines(request, source, shown),
        "wanted": wanted,
        "names": NAMES,
        "attempts": attempts,
        "attempt": source.attempt or source.run.attempt_number,
        "waits": _asked_for(source, shown),
        "tail_says": MORE_FOLLOWS,
    }
    return render(request, "dashboards/log.html", context)


def _first_lines(request: HttpRequest, source: LogSource) -> HttpResponse:
    """Return the lines alone, for the page of the run."""
    shown = window(source)
    waits = _asked_for(source, shown)
    context = {**_lines(request, source, shown), "tail_says": waits or MORE_FOLLOWS}
    return render(request, "dashboards/fragments/log_lines.html", context)


def _tail(request: HttpRequest, source: LogSource) -> HttpResponse:
    """Return the lines that have come since, and where the next ones begin."""
    offset, line = whole_number(request, "offset") or 0, whole_number(request, "after") or 0
    shown = new_lines(source, offset=offset, after_line=line)
    waits = _asked_for(source, shown)
    if not shown.parts and not shown.is_final:
        return HttpResponse(status=204, headers={"Cache-Control": "no-store"})
    is_over = shown.is_final and shown.next_offset >= shown.total
    context = {**_lines(request, source, shown), "tail_says": waits or MORE_FOLLOWS}
    body = render_to_string("dashboards/fragments/log_lines.html", context, request)
    return HttpResponse(
        body, status=STOP_POLLING if is_over else 200, headers={"Cache-Control": "no-store"}
    )


def _asked_for(source: LogSource, shown: LogWindow) -> str:
    """Have the site send what the log has grown by; return why nothing will come now."""
    if shown.is_final:
        return ""
    return follow_log(source.run, source.name, queue=wiring.site_queue(), now=timezone.now())


def _lines(request: HttpRequest, source: LogSource, shown: LogWindow) -> dict[str, Any]:
    kept = {name: request.GET[name] for name in ("name", "attempt") if request.GET.get(name)}
    address = reverse("dashboards:log", args=[source.run.pk])
    query = urlencode(kept)
    return {
        "run": source.run,
        "address": f"{address}?{query}" if query else address,
        "joint": "&" if query else "?",
        "job": source.run.job,
        "name": source.name,
        "window": shown,
        "is_over": shown.is_final and shown.next_offset >= shown.total,
        "query": query,
        "always_shown": EDGE_LINES,
    }


def _bytes(source: LogSource, total: int) -> Iterator[bytes]:
    at = 0
    while at < total:
        piece = source.read(at, min(PIECE_BYTES, total - at))
        if not piece.content:
            return
        yield piece.content
        at = piece.next_offset


def _unreachable(request: HttpRequest, error: Exception) -> HttpResponse:
    says = str(error) or "the log is not in the store any more"
    return render(request, "dashboards/unreachable.html", {"says": says}, status=503)
