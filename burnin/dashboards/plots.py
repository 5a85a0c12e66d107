"""Where a value lies against its bound, in percent of the plot's width. Pure."""

from __future__ import annotations

from dataclasses import dataclass

MARGIN = 0.4  # of the span between value and bound, left free on both sides
NARROWEST_SPAN = 0.1  # of the bound: a value near it is still told from it


@dataclass(frozen=True)
class BoundPlot:
    """The acceptable zone, the bound and the value."""

    zone_x: float
    zone_width: float
    bound_x: float
    value_x: float


def bound_plot(value: float, limit: float, better: str) -> BoundPlot | None:
    """Return the plot; None where a bar says nothing: a bound of 0, or one that must be met."""
    if not limit or better not in ("higher", "lower"):
        return None
    span = max(abs(value - limit), abs(limit) * NARROWEST_SPAN)
    lowest = min(value, limit) - MARGIN * span
    width = abs(value - limit) + 2 * MARGIN * span
    bound_x = 100 * (limit - lowest) / width
    zone = (bound_x, 100 - bound_x) if better == "higher" else (0.0, bound_x)
    value_x = 100 * (value - lowest) / width
    return BoundPlot(*(round(each, 1) for each in (*zone, bound_x, value_x)))
