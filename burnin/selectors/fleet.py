"""The fleet as the first page shows it, in a number of queries that no size changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Q, QuerySet

from burnin.models import Job, NodeStanding
from burnin.models.job import JobState
from burnin.models.standing import NodeState
from burnin.selectors.attention import Attention, attention
from burnin.selectors.health import Health, health
from burnin.selectors.jobs import ListedJob, jobs_at, listed
from burnin.selectors.nodes import counts, nodes_at
from fleet.models import Site

JOBS_SHOWN = 20
WEEK = timedelta(days=7)


@dataclass(frozen=True)
class Week:
    """What changes soon, and what changed lately."""

    newly_accepted: int
    expires: int


@dataclass(frozen=True)
class Fleet:
    """`counts` adds up to `total`; `stale_because` is one of the reasons, "" if none is stale."""

    sites: list[Site]
    counts: Mapping[str, int]
    attention: Attention
    stale_because: str
    jobs: list[ListedJob]
    more_jobs: bool
    has_had_jobs: bool
    health: list[Health]
    week: Week

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def fleet(sites: QuerySet[Site], now: datetime) -> Fleet:
    """Return how these sites stand now."""
    open_jobs = jobs_at(sites).exclude(state=JobState.DONE).order_by("-created_at", "-pk")
    jobs = list(open_jobs[: JOBS_SHOWN + 1])
    standings = NodeStanding.objects.filter(node__site__in=sites, node__excluded_because="")
    stale = standings.filter(state=NodeState.STALE).order_by("-since", "pk")
    return Fleet(
        sites=list(sites.order_by("name")),
        counts=counts(nodes_at(sites, now)),
        attention=attention(sites),
        stale_because=stale.values_list("reason", flat=True).first() or "",
        jobs=listed(jobs[:JOBS_SHOWN], now),
        more_jobs=len(jobs) > JOBS_SHOWN,
        has_had_jobs=bool(jobs) or Job.objects.filter(site__in=sites).exists(),
        health=health(sites, now),
        week=_week(standings, now),
    )


def _week(standings: QuerySet[NodeStanding], now: datetime) -> Week:
    found = standings.filter(state=NodeState.ACCEPTED).aggregate(
        newly_accepted=Count("pk", filter=Q(since__gte=now - WEEK)),
        expires=Count("pk", filter=Q(weigh_at__gt=now, weigh_at__lte=now + WEEK)),
    )
    return Week(**found)
