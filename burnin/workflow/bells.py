"""Bells wake a step of the workflow for one site, so that nobody waits for the next tick."""

from collections.abc import Callable
from enum import StrEnum
from typing import Protocol

from django.db import transaction

from fleet.models import Site


class Bell(StrEnum):
    """What there may be to do at a site. Ringing twice is as good as once."""

    DISPATCH = "dispatch"
    COLLECT = "collect"


class Bells(Protocol):
    def ring(self, bell: Bell, site_id: int) -> None:
        """Wake the step. Never raises: what nobody hears, the next tick finds."""
        ...


class Silence:
    """No bells: the ticks find everything."""

    def ring(self, bell: Bell, site_id: int) -> None:
        return None


def ring_after_commit(bells: Bells, site: Site, wanted: set[Bell]) -> None:
    """Ring once the rows that say so can be seen."""
    for bell in sorted(wanted):
        transaction.on_commit(_ringer(bells, bell, site.pk))


def _ringer(bells: Bells, bell: Bell, site_id: int) -> Callable[[], None]:
    return lambda: bells.ring(bell, site_id)
