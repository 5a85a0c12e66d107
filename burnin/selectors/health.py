"""How the parts of the product are, by when they were last heard. Nobody knows: not well."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import QuerySet

from burnin.models import PartHealth
from burnin.models.part_health import Part
from burnin.workflow.sites import why_closed
from fleet.models import Site

HEARD_WITHIN = timedelta(seconds=45)  # they look every 10 s

HEALTHY, DEGRADED, UNKNOWN, OFF = "healthy", "degraded", "unknown", "off"


@dataclass(frozen=True)
class Health:
    """A part, how it is, the sentence that says why, and when it was last heard."""

    name: str
    state: str
    words: str
    heard_at: datetime | None
    site: Site | None = None


def health(sites: QuerySet[Site], now: datetime) -> list[Health]:
    """Return every site of these and every part of the hub, in two queries."""
    known = {row.part: row for row in PartHealth.objects.all()}
    return [
        *(health_of_site(site, now) for site in sites.order_by("name")),
        *(_health_of_part(part, known.get(part.value), now) for part in Part),
    ]


def health_of_site(site: Site, now: datetime) -> Health:
    """Say whether jobs can be sent there, and if not, why."""
    if not site.is_enabled:
        return Health(site.name, OFF, "switched off", site.heartbeat_at, site)
    if site.heartbeat_at is None:
        words = "its satellite has never reported: start it at the site"
        return Health(site.name, UNKNOWN, words, None, site)
    words = why_closed(site, now) or _why_it_cannot_reach(site)
    state = DEGRADED if words else HEALTHY
    return Health(site.name, state, words or "satellite, SSH, slurmctld", site.heartbeat_at, site)


def _why_it_cannot_reach(site: Site) -> str:
    names = {"login_host": "login host", "slurmctld": "slurmctld"}
    ill = [f"{word}: {site.reach[name]}" for name, word in names.items() if site.reach.get(name)]
    unsaid = [word for name, word in names.items() if name not in site.reach]
    if words := site.reach.get("accounting"):
        ill.append(f"accounting: {words}")
    return "; ".join([*ill, *(f"{word}: the satellite has not said" for word in unsaid)])


def _health_of_part(part: Part, row: PartHealth | None, now: datetime) -> Health:
    name = str(part.label)
    if row is None:
        return Health(name, UNKNOWN, "never heard: start the hub's worker and beat", None)
    if now - row.heard_at > HEARD_WITHIN:
        words = (
            "no worker has looked since: start worker and beat, and see whether the broker answers"
        )
        # Of broker and store the old word says nothing any more; the worker itself is silent.
        state = DEGRADED if part is Part.WORKER else UNKNOWN
        return Health(name, state, words, row.heard_at)
    return Health(name, HEALTHY if row.is_well else DEGRADED, row.words, row.heard_at)
