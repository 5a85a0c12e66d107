from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.rocm_bandwidth import RocmBandwidthReport


def as_expected(report: RocmBandwidthReport) -> dict[str, Any]:
    return {
        "version": report.version,
        "gpus": len(report.gpus),
        "one_way": len(report.one_way),
        "both_ways": len(report.both_ways),
        "checks": len(report.checks),
        "failed": [[each.source, each.target] for each in report.checks if not each.passed],
    }
