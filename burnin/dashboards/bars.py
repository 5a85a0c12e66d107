"""Where the segments of a counts bar lie. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from burnin.dashboards.looks import Look, look_of
from burnin.dashboards.wording import number

NARROWEST = 1.1  # percent: one node of 10,000 can be seen


@dataclass(frozen=True)
class Segment:
    """One part of a bar; `x` and `width` are in percent of it."""

    look: Look
    count: int
    x: float
    width: float

    @property
    def title(self) -> str:
        return f"{self.look.word} {number(self.count)}"


def segments(counts: Mapping[str, int]) -> list[Segment]:
    """Return the parts that are not empty, in the order of every bar, 100 % wide in all."""
    shown = sorted(
        ((look_of(state), count) for state, count in counts.items() if count > 0),
        key=lambda each: each[0].rank,
    )
    widths = _widths([count for _, count in shown])
    parts, x = [], 0.0
    for (look, count), width in zip(shown, widths, strict=True):
        parts.append(Segment(look, count, x, width))
        x += width
    return parts


def sentence(counts: Mapping[str, int]) -> str:
    """Return what the bar shows, in words."""
    parts = [f"{number(each.count)} {each.look.word.lower()}" for each in segments(counts)]
    return ", ".join(parts) or "nothing yet"


def _widths(counts: list[int]) -> list[float]:
    total = sum(counts)
    if not total:
        return []
    wanted = [max(100 * count / total, NARROWEST) for count in counts]
    # What the narrow ones got too much, the wide ones give, each by its size.
    surplus = sum(wanted) - 100
    room = sum(width - NARROWEST for width in wanted)
    share = surplus / room if room else 0
    return [width - (width - NARROWEST) * share for width in wanted]
