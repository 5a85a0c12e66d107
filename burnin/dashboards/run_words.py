"""Bounds and margins as people read them. Pure."""

from __future__ import annotations

from burnin.dashboards import wording

LIMIT_SIGNS = {"higher": "≥", "lower": "≤", "exact": "="}


def margin(deviation: float) -> str:
    """Return a relative margin: −19.4 %, +2.1 %; 0.0 % has no sign."""
    percent = 100 * deviation
    text = f"{abs(percent):,.1f}" if abs(percent) < 1000 else f"{abs(percent):,.0f}"
    sign = "" if not float(text.replace(",", "")) else "−" if percent < 0 else "+"
    return f"{sign}{text} %"


def limit(better: str, value: float, unit: str) -> str:
    """Return a bound: ≥ 455 GB/s."""
    return f"{LIMIT_SIGNS[better]} {wording.quantity(value, unit)}"
