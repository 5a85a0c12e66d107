"""Catches a limit that slipped by a unit: MB/s for GB/s, a fraction for a percentage."""

from __future__ import annotations

from burnin.hardware_tests.metrics import Better, MetricDeclaration, MetricUnit

# Only where a unit alone narrows it. Elsewhere the metric says it: metric(…, plausible=…).
_WINDOWS = {
    MetricUnit.PERCENT: (0.5, 100.0),
    MetricUnit.RATIO: (0.01, 5.0),
    MetricUnit.CELSIUS: (15.0, 150.0),
}
_MOST_COUNTED = 1_000_000


def implausible(value: float, declared: MetricDeclaration) -> str:
    """Return why this cannot be the limit that was meant, or nothing."""
    if declared.unit is MetricUnit.COUNT and declared.plausible is None:
        return _implausible_count(value, declared)
    window = declared.plausible or _WINDOWS.get(declared.unit)
    if window is None:
        return (
            f"a unit slip would go unseen; declare metric(MetricUnit.{declared.unit.name}, …, "
            "plausible=(lowest, highest))"
        )
    low, high = window
    good = low <= value <= high
    return "" if good else f"outside {low:g} to {high:g}, is the unit right?"


def _implausible_count(value: float, declared: MetricDeclaration) -> str:
    if value != int(value) or not 0 <= value <= _MOST_COUNTED:
        return f"a count is a whole number from 0 to {_MOST_COUNTED}"
    if declared.better is Better.HIGHER and value == 0:
        return "anything would pass a floor of 0"
    return ""
