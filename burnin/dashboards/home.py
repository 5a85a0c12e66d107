"""How the fleet stands, and what needs somebody."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone

from burnin.dashboards.exports import export
from burnin.dashboards.live import fragment
from burnin.dashboards.wording import number
from burnin.selectors.attention import Entry
from burnin.selectors.fleet import Fleet, fleet
from burnin.selectors.health import HEALTHY
from burnin.selectors.jobs import ListedJob
from burnin.selectors.nodes import Place
from burnin.states import Cause, Verdict
from fleet.access import role_of, sites_of


@dataclass(frozen=True)
class Count:
    """One item of the legend, and the list that it opens."""

    place: str
    count: int
    url: str


@dataclass(frozen=True)
class Step:
    """One step from nothing to the first verdict."""

    state: str
    title: str
    says: str


@login_required
def home(request: HttpRequest) -> HttpResponseBase:
    now = timezone.now()
    mine = sites_of(request.user)
    site = request.GET.get("site", "")
    shown = fleet(mine.filter(name=site) if site else mine, now)
    exported = export(request, "jobs-in-progress", _JOB_COLUMNS, shown.jobs)
    if exported is not None:
        return exported
    context = {**_context(shown, site), "has_role": role_of(request.user) is not None}
    if request.GET.get("part") == "fleet":
        return fragment(request, "dashboards/fragments/fleet.html", context)
    context["site_names"] = list(mine.order_by("name").values_list("name", flat=True))
    return render(request, "dashboards/home.html", context)


def _context(shown: Fleet, site: str) -> dict[str, Any]:
    return {
        "fleet": shown,
        "legend": [
            Count(place.value, shown.counts[place.value], _nodes_url(place=place.value, site=site))
            for place in Place
        ],
        "entries": [(each, title_of(each), _says(each)) for each in shown.attention.entries],
        "jobs": [(each, *_progress(each)) for each in shown.jobs],
        "stale_url": _nodes_url(place="stale", site=site),
        "steps": [] if shown.has_had_jobs and shown.total else _first_steps(shown),
        "site": site,
    }


def _nodes_url(**query: str) -> str:
    return f"/nodes/?{urlencode({name: value for name, value in query.items() if value})}"


def title_of(entry: Entry) -> str:
    """Return what happened to how many, in words."""
    what = {
        Verdict.FAILED: "failed",
        Verdict.INCONCLUSIVE: "came to no conclusion in",
        Verdict.ERRORED: "could not be measured by",
    }[Verdict(entry.verdict)]
    nodes = entry.newest.node.name if entry.count == 1 else f"{number(entry.count)} nodes"
    return f"{nodes} {what} {entry.slug}"


def _says(entry: Entry) -> str:
    """Return whose it is; a single node is named in the title already."""
    owner = {
        Cause.TEST: "The test's own trouble: not counted against the node.",
        Cause.INFRASTRUCTURE: "Slurm, store or SSH: not counted against the node.",
    }
    says = "" if entry.verdict == Verdict.FAILED else owner.get(Cause(entry.cause), "")
    where = f"{entry.hosts}{'' if entry.is_whole else ' and more'} ({entry.shared})."
    return f"{where} {says}".strip()


def _progress(listed: ListedJob) -> tuple[int, str, str]:
    """Return percent done, and the state of a job that is under way with its words."""
    counts, total = listed.counts, listed.total
    done = total - counts["running"] - counts["waiting"]
    percent = 100 * done // total if total else 0
    for verdict in (Verdict.FAILED, Verdict.ERRORED, Verdict.INCONCLUSIVE):
        if counts[verdict]:
            return percent, verdict.value, f"{number(counts[verdict])} {verdict}"
    if listed.job.state == "cancelling":
        return percent, "cancelling", "cancelling"
    if counts["running"]:
        return percent, "running", f"{number(counts['running'])} running"
    return percent, "waiting", f"{number(counts['waiting'])} waiting"


def _first_steps(shown: Fleet) -> list[Step]:
    """Return the way from nothing to the first verdict; what is done comes first."""
    parts_are_well = all(each.state == HEALTHY for each in shown.health if each.site is None)
    checked = any(site.is_checked for site in shown.sites)
    steps = [
        (
            parts_are_well,
            "Start web, worker and beat",
            "They answer when Health shows a tick for each of the hub's parts.",
        ),
        (
            bool(shown.sites),
            "Declare a site",
            "A site is one Slurm cluster and its login host. An admin adds it under "
            "Administration, or `manage.py load_inventory` makes it from the site's own file.",
        ),
        (
            checked,
            "Check the site",
            "`manage.py site_check SITE`, or the button on its page, probes its login host and a "
            "node. Jobs go only to a site that passed.",
        ),
        (
            bool(shown.total),
            "Bring in its nodes",
            "`manage.py load_inventory SITE` reads them from Slurm.",
        ),
        (
            shown.has_had_jobs,
            "Burn in one node",
            "Start a job with preset cpu-quick: it takes minutes and needs no GPU.",
        ),
    ]
    first_open = next((place for place, step in enumerate(steps) if not step[0]), len(steps))
    return [
        Step(_state_of(is_done, place == first_open), title, says)
        for place, (is_done, title, says) in enumerate(steps)
    ]


def _state_of(is_done: bool, is_next: bool) -> str:
    if is_done:
        return "done"
    return "running" if is_next else "untested"


_JOB_COLUMNS: Mapping[str, Any] = {
    "job": lambda each: str(each.job.pk),
    "preset": lambda each: each.job.preset.name if each.job.preset else "",
    "site": lambda each: each.job.site.name,
    "nodes": lambda each: each.job.node_count,
    **{
        verdict: lambda each, verdict=verdict: each.counts[verdict]
        for verdict in (
            "passed",
            "failed",
            "errored",
            "inconclusive",
            "running",
            "waiting",
            "skipped",
        )
    },
    "ends_at": lambda each: each.ends_at,
}
