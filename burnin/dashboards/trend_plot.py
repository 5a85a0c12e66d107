"""Where the dots of a trend lie: x in percent of the width, y in pixels from the top. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from burnin.selectors.node import Point, Trend

HEIGHT, TOP, BOTTOM = 160, 14, 130  # below it stand the dates
LEFT, RIGHT = 4.0, 86.0
DATES = 5


@dataclass(frozen=True)
class Dot:
    x: float
    y: float
    point: Point
    has_date: bool


@dataclass(frozen=True)
class Line:
    x1: float
    y1: float
    x2: float
    y2: float


@dataclass(frozen=True)
class Zone:
    """What is acceptable, and the bound at its edge."""

    y: float
    height: float
    bound_y: float
    sign: str


@dataclass(frozen=True)
class TrendPlot:
    dots: list[Dot]
    lines: list[Line]
    zone: Zone | None


def trend_plot(trend: Trend) -> TrendPlot:
    """Return the plot of a trend with at least one point."""
    values = [point.value for point in trend.points]
    known = [*values, *([trend.limit] if trend.limit is not None else [])]
    lowest, highest = min(known), max(known)
    span = highest - lowest or abs(highest) or 1.0

    def y_of(value: float) -> float:
        return round(BOTTOM - (BOTTOM - TOP) * (value - lowest) / span, 1)

    step = (RIGHT - LEFT) / max(1, len(values) - 1)
    dated = _dated(len(values))
    dots = [
        Dot(round(LEFT + place * step, 1), y_of(point.value), point, place in dated)
        for place, point in enumerate(trend.points)
    ]
    lines = [Line(one.x, one.y, other.x, other.y) for one, other in pairwise(dots)]
    return TrendPlot(
        dots, lines, _zone(trend, y_of(trend.limit)) if trend.limit is not None else None
    )


def _zone(trend: Trend, bound_y: float) -> Zone | None:
    if trend.better == "higher":
        return Zone(0, bound_y, bound_y, "≥")
    if trend.better == "lower":
        return Zone(bound_y, HEIGHT - 20 - bound_y, bound_y, "≤")
    return Zone(bound_y, 0, bound_y, "=") if trend.better else None


def _dated(count: int) -> set[int]:
    """Return which dots carry a date: the first, the last, and some between."""
    if count <= DATES:
        return set(range(count))
    return {round(place * (count - 1) / (DATES - 1)) for place in range(DATES)}
