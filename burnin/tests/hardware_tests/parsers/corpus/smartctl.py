from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.smartctl import SmartctlReport


def as_expected(report: SmartctlReport) -> dict[str, Any]:
    return vars(report)
