from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.mdtest import MdtestRate, MdtestReport


def as_expected(report: MdtestReport) -> dict[str, Any]:
    return {
        "unit": "ops/s",
        "iterations": report.iterations,
        **{rate.operation: _rate(rate, report.iterations) for rate in report.rates},
    }


def _rate(rate: MdtestRate, iterations: int) -> Any:
    """Of one iteration, maximum and mean are the same number."""
    if iterations == 1:
        return rate.mean_per_s
    return {"max": rate.max_per_s, "mean": rate.mean_per_s}
