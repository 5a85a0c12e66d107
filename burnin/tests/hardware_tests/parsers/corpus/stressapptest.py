from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.stressapptest import StressapptestReport


def as_expected(report: StressapptestReport) -> dict[str, Any]:
    return vars(report)
