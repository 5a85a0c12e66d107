from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.hpcg import HpcgReport


def as_expected(report: HpcgReport) -> dict[str, Any]:
    return {
        "valid": report.is_valid,
        "gflops": report.gflops,
        "official": report.is_official,
        "execution_time_s": report.execution_time_s,
    }
