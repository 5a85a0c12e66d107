"""Nodes with where each stands: pages, exports and REST alike."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import models
from django.db.models import Case, Count, F, Q, QuerySet, Value, When

from burnin.models import Job, JobNode, RunNode, weighing
from burnin.models.job import JobState
from burnin.models.standing import NodeState
from burnin.states import AT_WORK
from fleet.models import Node, Site


class Place(models.TextChoices):
    """Where a node is counted: once, and every node somewhere. In the order of every legend."""

    ACCEPTED = "accepted"
    FAILING = "failing"
    SUSPECT = "suspect"
    RUNNING = "running"
    WAITING = "waiting"
    UNTESTED = "untested"
    STALE = "stale"
    SKIPPED = "skipped"


def placed(nodes: QuerySet[Node], now: datetime) -> QuerySet[Node]:
    """Add `place` to each node. What is under way now comes before what was shown earlier.

    An acceptance whose time is over is not believed, whether it was weighed again or not.
    """
    # By site, for which there is an index that begins like this.
    sites = Site.objects.values("pk")
    at_work = RunNode.objects.filter(run__site__in=sites, run__state__in=AT_WORK).values("node")
    open_jobs = Job.objects.exclude(state=JobState.DONE).values("pk")
    waiting = JobNode.objects.filter(job__in=open_jobs, open_runs__gt=0).values("node")
    is_over = Q(standing__state=NodeState.ACCEPTED) & weighing.is_over(now, "standing__")
    return nodes.annotate(
        place=Case(
            When(~Q(excluded_because=""), then=Value(Place.SKIPPED.value)),
            When(pk__in=at_work, then=Value(Place.RUNNING.value)),
            When(pk__in=waiting, then=Value(Place.WAITING.value)),
            When(standing=None, then=Value(Place.UNTESTED.value)),
            When(is_over, then=Value(Place.STALE.value)),
            When(standing__state=NodeState.SKIPPED, then=Value(Place.UNTESTED.value)),
            default=F("standing__state"),
            output_field=models.CharField(),
        )
    )


def nodes_at(sites: QuerySet[Site], now: datetime) -> QuerySet[Node]:
    """Return the nodes of these sites with their places and standings."""
    nodes = Node.objects.filter(site__in=sites)
    return placed(nodes, now).select_related("site", "resource_class", "standing")


def counts(nodes: QuerySet[Any]) -> dict[str, int]:
    """Return how many of the placed nodes are where, zeros included, in one query."""
    found = nodes.order_by().select_related(None).values("place").annotate(count=Count("pk"))
    by_place = {row["place"]: row["count"] for row in found}
    return {place.value: by_place.get(place.value, 0) for place in Place}


def visible_node(site: str, name: str, sites: QuerySet[Site], now: datetime) -> Node | None:
    """Return the node with its place if it is at one of these sites."""
    return nodes_at(sites, now).filter(site__name=site, name=name).first()


def why(node: Node) -> str:
    """Return the one sentence that says why the node stands where it does."""
    if node.excluded_because:
        return node.excluded_because
    standing = getattr(node, "standing", None)
    return standing.reason if standing else "not weighed yet"
