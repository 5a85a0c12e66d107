"""Whether a site can take work now, and one writer at a time for each site's rows."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta

from django.db import transaction

from burnin.workflow.clocks import why_out_of_time
from fleet.models import Site

ALIVE_FOR = timedelta(seconds=15)  # three heartbeats


def why_closed(site: Site, now: datetime) -> str:
    """Say in one sentence why nothing can be sent to the site; "" when it can."""
    if why := why_off(site):
        return why
    if site.checked_at is None:
        return f"site {site.name} has not passed a check: run `manage.py site_check {site.name}`"
    if not site.is_checked:
        return (
            f"the configuration of site {site.name} has changed since its check: "
            f"run `manage.py site_check {site.name}` again"
        )
    return why_silent(site, now) or why_out_of_time(site)


def why_off(site: Site) -> str:
    return "" if site.is_enabled else f"site {site.name} is switched off: enable it first"


def why_silent(site: Site, now: datetime) -> str:
    """Say that no satellite of the site is alive; "" when one is."""
    if site.heartbeat_at is None:
        return f"no satellite of site {site.name} has ever reported: start it at the site"
    age = now - site.heartbeat_at
    if age <= ALIVE_FOR:
        return ""
    return (
        f"no satellite of site {site.name} is alive (last heard of "
        f"{age.total_seconds():.0f} s ago): start it at the site"
    )


@contextmanager
def alone_at(site: Site) -> Iterator[None]:
    """A transaction that no other writer of the site's runs shares: moves and counters follow.

    Short by rule: nothing in it may wait for a network.
    """
    with transaction.atomic():
        locked = Site.objects.select_for_update(no_key=True).filter(pk=site.pk)
        list(locked.values_list("pk"))
        yield
