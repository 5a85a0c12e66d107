from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.iperf2 import Iperf2Report


def as_expected(report: Iperf2Report) -> dict[str, Any]:
    return {"total_Gbps": report.bits_per_s / 1e9, "retries": report.retries}
