"""Numbers and times as people read them. Pure."""

from __future__ import annotations

import math
from datetime import datetime, timedelta

MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86_400
LONGEST_DURATION_S = 1e12
MIB_IN_GIB = 1024
BYTE_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def number(value: float | None) -> str:
    """Return a figure with thousands grouped and no more digits than tell something."""
    if value is None:
        return "–"
    if not math.isfinite(value):
        return str(value)
    text = f"{abs(value):,.{_decimals(value)}f}"
    return f"−{text}" if value < 0 and float(text.replace(",", "")) else text


def _decimals(value: float) -> int:
    size = abs(value)
    if size == int(size) or size >= 1000:
        return 0
    if size >= 10:
        return 1
    if size >= 1:
        return 2
    return min(12, 2 - math.floor(math.log10(size)))


def quantity(value: float | None, unit: str) -> str:
    """Return a figure and its unit; a factor's x stands close."""
    if value is None or not unit:
        return number(value)
    return f"{number(value)}×" if unit == "x" else f"{number(value)} {unit}"


def duration(seconds: float | None) -> str:
    """Return at most two units: `48 s`, `12 min`, `1 h 35 min`, `6 d`."""
    if seconds is None or not 0 <= seconds < LONGEST_DURATION_S:
        return "–"
    s = int(seconds)
    if s < MINUTE_S:
        return f"{s} s"
    if s < HOUR_S:
        return f"{s // MINUTE_S} min"
    if s < 10 * HOUR_S and s % HOUR_S >= MINUTE_S:
        return f"{s // HOUR_S} h {s % HOUR_S // MINUTE_S} min"
    if s < 2 * DAY_S:
        return f"{s // HOUR_S} h"
    return f"{s // DAY_S} d"


def age(since: datetime, now: datetime) -> str:
    """Return how long ago it was. A clock that is ahead of ours was just now."""
    return duration(max((now - since).total_seconds(), 0))


def short_age(since: datetime, now: datetime) -> str:
    """Return an age for a narrow cell, in one unit: 48s, 12m, 3h, 6d."""
    s = max(0, int((now - since).total_seconds()))
    for length, unit in ((DAY_S, "d"), (HOUR_S, "h"), (MINUTE_S, "m")):
        if s >= length:
            return f"{s // length}{unit}"
    return f"{s}s"


def moment(at: datetime, now: datetime) -> str:
    """Return a time in UTC: the year is left out in the same half year, the day on the same day."""
    if at.date() == now.date():
        return f"{at:%H:%M}"
    if abs(now - at) < timedelta(days=182):
        return f"{at.day} {at:%b %H:%M}"
    return f"{at.day} {at:%b %Y}"


def memory(mib: float) -> str:
    """Return MiB, as Slurm counts, in the unit in which tests say how much memory there is."""
    return quantity(mib / MIB_IN_GIB, "GiB")


def size(byte_count: float | None) -> str:
    """Return a size in powers of a thousand."""
    if byte_count is None:
        return "–"
    left = float(byte_count)
    for unit in BYTE_UNITS[:-1]:
        if abs(left) < 1000:
            return f"{number(left)} {unit}"
        left /= 1000
    return f"{number(left)} {BYTE_UNITS[-1]}"
