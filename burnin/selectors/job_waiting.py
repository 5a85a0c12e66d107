"""Why a job's runs wait, by reason, and since when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min

from burnin.models import Job, TestRun
from burnin.models.signature import signature
from burnin.states import RunState

_UNSAID = {
    RunState.PLANNED.value: "not sent yet: the site or the node has enough of our jobs",
    RunState.DISPATCHED.value: "sent to the site, whose satellite has not answered yet",
    RunState.SUBMITTED.value: "in Slurm's queue, and Slurm has given no reason yet",
}


@dataclass(frozen=True)
class Waiting:
    """So many runs of the open stage wait for one reason, the first of them since then."""

    reason: str
    count: int
    since: datetime


def waiting_of(job: Job) -> list[Waiting]:
    """Return why runs of the open stage wait, most first, in one query."""
    if job.state == "done":
        return []
    waiting = TestRun.objects.filter(job=job, stage=job.stage, state__in=_UNSAID).order_by()
    rows = waiting.values_list("state", "waits_because").annotate(Count("pk"), Min("moved_at"))
    groups: dict[str, Waiting] = {}
    for state, because, count, since in rows:
        given = Waiting(because or _UNSAID[state], count, since)
        key = signature(given.reason)
        known = groups.get(key)
        groups[key] = _together(known, given) if known else given
    return sorted(groups.values(), key=lambda each: (-each.count, each.since))


def _together(one: Waiting, other: Waiting) -> Waiting:
    """Return both as one row: of reasons that differ in a name or number, the older one's."""
    older = min(one, other, key=lambda each: each.since)
    return Waiting(older.reason, one.count + other.count, older.since)
