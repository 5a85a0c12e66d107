"""How bad a result is, as numbers that a database can sort by."""

from __future__ import annotations

import math
from collections.abc import Iterable

from django.db import models

from burnin.hardware_tests.evaluation import TestMetricEvaluation
from burnin.hardware_tests.metrics import Better
from burnin.states import Verdict


class Severity(models.IntegerChoices):
    """What is worst of what a job found on a node. The higher, the sooner someone must look."""

    NONE = 0, "nothing judged yet"
    MEASURED = 1
    PASSED = 2
    SKIPPED = 3
    INCONCLUSIVE = 4
    ERRORED = 5
    FAILED = 6
    FAULT = 7, "failed, and no margin says by how much"


OF_VERDICT = {verdict.value: Severity[verdict.name] for verdict in Verdict}


def severity_of(verdict: str, deviation: float | None) -> Severity:
    """Return the severity of a judged result."""
    found = OF_VERDICT[verdict]
    return Severity.FAULT if found is Severity.FAILED and deviation is None else found


def worst_deviation(entries: Iterable[TestMetricEvaluation]) -> float | None:
    """Return the smallest margin to a bound, relative to it; below 0 the gate does not hold.

    None if no gate has such a margin, or if one that does not hold has none: a bound of 0 is
    missed by no share of itself.
    """
    margins = []
    for entry in entries:
        margin = _margin(entry)
        if margin is not None:
            margins.append(margin)
        elif not entry.passed:
            return None
    return min(margins, default=None)


def _margin(entry: TestMetricEvaluation) -> float | None:
    bound, value = entry.bound.value, entry.reading.value
    if not bound or not isinstance(value, int | float):
        return None
    above = (value - bound) / abs(bound)
    margin = {Better.HIGHER: above, Better.LOWER: -above, Better.EXACT: -abs(above)}
    found = margin[entry.bound.better]
    return found if math.isfinite(found) else None
