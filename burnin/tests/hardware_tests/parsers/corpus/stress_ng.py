from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.stress_ng import StressNgReport


def as_expected(report: StressNgReport) -> dict[str, Any]:
    return {
        **vars(report),
        "passed": report.passed,
        "wrong_values": len(report.fault_lines),
        "bogus_operations": sum(each.bogus_operations for each in report.stressors),
    }
