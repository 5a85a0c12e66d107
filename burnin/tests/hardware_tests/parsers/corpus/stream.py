from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.stream import StreamReport


def as_expected(report: StreamReport) -> dict[str, Any]:
    shortest_us = min(report.copy.shortest_s, report.triad.shortest_s) * 1e6
    return {
        "Copy_MBps": report.copy.best_mb_per_s,
        "Scale_MBps": report.scale.best_mb_per_s,
        "Add_MBps": report.add.best_mb_per_s,
        "Triad_MBps": report.triad.best_mb_per_s,
        "validates": report.validates,
        "threads": report.threads,
        "unreliable": f"array size {report.array_elements} elements; granularity warning; "
        f"min time {shortest_us:.0f} microsecond"
        if report.is_too_short
        else None,
    }
