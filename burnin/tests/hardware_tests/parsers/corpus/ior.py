from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.ior import IorReport, IorSummary

MIB = 1 << 20


def as_expected(report: IorReport) -> dict[str, Any]:
    return {
        "verdict": "ok" if report.data_errors == 0 else "failed",
        "data_errors": report.data_errors,
        "tasks": report.tasks,
        "repetitions": report.repetitions,
        "rows": len(report.rows),
        "write_bw_MiBps": _speeds(report, "write"),
        "read_bw_MiBps": _speeds(report, "read"),
        **{summary.operation: _summary(summary) for summary in report.summaries},
    }


def _speeds(report: IorReport, operation: str) -> list[float]:
    return [row.bytes_per_s / MIB for row in report.rows if row.operation == operation]


def _summary(summary: IorSummary) -> dict[str, float]:
    return {
        "max_MiBps": summary.max_bytes_per_s / MIB,
        "min_MiBps": summary.min_bytes_per_s / MIB,
        "mean_MiBps": summary.mean_bytes_per_s / MIB,
    }
