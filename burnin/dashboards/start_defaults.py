"""What the form that starts a job offers before anything was chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from burnin.models import Preset
from burnin.workflow.sites import why_closed
from fleet.models import Node, Site


@dataclass(frozen=True)
class SiteChoice:
    """A site that the operator may choose. One that is closed can be looked at in a dry run."""

    name: str
    is_open: bool


def site_choices(sites: Iterable[Site], now: datetime) -> list[SiteChoice]:
    return [SiteChoice(each.name, not why_closed(each, now)) for each in sites]


def site_to_offer(choices: Sequence[SiteChoice]) -> str:
    """Return the first site that takes jobs now, else the first; "" if there is none."""
    ranked = sorted(choices, key=lambda each: not each.is_open)
    return ranked[0].name if ranked else ""


def preset_to_offer(presets: Sequence[Preset], site_name: str) -> str:
    """Return the only preset, or the only one that accepts nodes of the site; else nothing."""
    if len(presets) == 1:
        return presets[0].name
    classes = set(
        Node.objects.filter(site__name=site_name).values_list("resource_class__name", flat=True)
    )
    accepting = [each.name for each in presets if classes.intersection(each.accepts)]
    return accepting[0] if len(accepting) == 1 else ""
