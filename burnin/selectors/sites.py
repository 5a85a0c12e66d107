"""Sites with what is counted there, and what a check found of one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, QuerySet
from django.utils.dateparse import parse_datetime

from burnin.models import TestRun
from burnin.selectors.health import Health, health_of_site
from burnin.selectors.nodes import Place, nodes_at
from burnin.states import IN_FLIGHT
from burnin.workflow.site_check import ASKED, CHECK_LIVES
from fleet.models import NodeListing, Site


@dataclass(frozen=True)
class ListedSite:
    """A site, how it is, and its nodes by place."""

    site: Site
    health: Health
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())


@dataclass(frozen=True)
class SitePage:
    """A site and all that is known of it. `asked_at` is set while a check is under way."""

    listed: ListedSite
    findings: list[Mapping[str, Any]]
    found_at: datetime | None
    asked_at: datetime | None
    queue: Mapping[str, int]
    new_nodes: int
    listed_at: datetime | None


def listed_sites(sites: QuerySet[Site], now: datetime) -> list[ListedSite]:
    """Return the sites by name, in two queries."""
    nodes: QuerySet[Any] = nodes_at(sites, now)
    rows = nodes.order_by().select_related(None).values("site_id", "place")
    by_site: dict[int, dict[str, int]] = {}
    for row in rows.annotate(count=Count("pk")):
        by_site.setdefault(row["site_id"], {})[row["place"]] = row["count"]
    return [
        ListedSite(site, health_of_site(site, now), _all_places(by_site.get(site.pk, {})))
        for site in sites.order_by("name")
    ]


def site_page(site: Site, now: datetime) -> SitePage:
    """Return everything that the page of a site shows, in a fixed number of queries."""
    (listed,) = listed_sites(Site.objects.filter(pk=site.pk), now)
    listing = NodeListing.objects.filter(site=site).first()
    kept = site.capabilities
    return SitePage(
        listed=listed,
        findings=list(kept.get("findings", [])),
        found_at=parse_datetime(kept["at"]) if "at" in kept else None,
        asked_at=_asked_at(site, now),
        queue=_queue(site),
        new_nodes=len(listing.unknown) if listing else 0,
        listed_at=listing.listed_at if listing else None,
    )


def _asked_at(site: Site, now: datetime) -> datetime | None:
    """Return when a check was asked for that may still be answered."""
    asked = site.capabilities.get(ASKED)
    at = parse_datetime(asked["at"]) if asked else None
    return at if at is not None and now - at <= CHECK_LIVES else None


def _queue(site: Site) -> dict[str, int]:
    """Return how many runs are at the site, by their state; what is planned is still here."""
    rows = TestRun.objects.filter(site=site, state__in=IN_FLIGHT).order_by()
    found = dict(rows.values_list("state").annotate(Count("pk")))
    return {state: found.get(state, 0) for state in IN_FLIGHT}


def _all_places(counts: Mapping[str, int]) -> dict[str, int]:
    return {place.value: counts.get(place.value, 0) for place in Place}
