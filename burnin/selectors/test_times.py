"""How long tests take, from what they took. Nothing measured, nothing said."""

from __future__ import annotations

from collections.abc import Mapping

from burnin.models import StepTime

NEWEST_OF_ALL = 2000
NEWEST_OF_ONE = 50


def mean_seconds() -> Mapping[str, float]:
    """Return by slug what a run took on average lately, in one query."""
    rows = StepTime.objects.filter(runs__gt=0).order_by("-id")
    sums: dict[str, tuple[int, int]] = {}
    for slug, runs, seconds in rows.values_list("slug", "runs", "seconds")[:NEWEST_OF_ALL]:
        known_runs, known_seconds = sums.get(slug, (0, 0))
        sums[slug] = known_runs + runs, known_seconds + seconds
    return {slug: seconds / runs for slug, (runs, seconds) in sums.items()}


def mean_seconds_of(slug: str) -> tuple[float, int] | None:
    """Return what a run of this test took on average lately, and of how many runs that is."""
    rows = StepTime.objects.filter(slug=slug, runs__gt=0).order_by("-id")
    found = list(rows.values_list("runs", "seconds")[:NEWEST_OF_ONE])
    total = sum(runs for runs, _ in found)
    return (sum(seconds for _, seconds in found) / total, total) if total else None
