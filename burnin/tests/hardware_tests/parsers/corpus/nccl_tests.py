from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.nccl_report import NcclReport, NcclRow


def as_expected(report: NcclReport) -> dict[str, Any]:
    wrong = report.wrong_rows
    return {
        "format": report.format,
        "rows": len(report.rows),
        "ranks": report.rank_count,
        "nodes": report.host_count,
        "avg_bus_bandwidth_GBps": report.average_bus_bandwidth_gb_per_s,
        "out_of_bounds": report.out_of_bounds,
        "out_of_bounds_verdict": str(report.out_of_bounds_verdict),
        "verdict": str(report.out_of_bounds_verdict),
        "correctness_checked": report.is_checked,
        "wrong_rows": [row.size_bytes for row in wrong],
        "wrong_out_of_place": sum(row.out_of_place.wrong or 0 for row in wrong if row.out_of_place),
        "wrong_in_place": sum(row.in_place.wrong or 0 for row in wrong if row.in_place),
        "misconfigured": "single rank: bus bandwidth is meaningless"
        if report.is_single_rank
        else None,
        "largest_size_bytes": report.largest_row.size_bytes,
        **_half(report, "out_of_place"),
        **_half(report, "in_place"),
    }


def _half(report: NcclReport, half: str) -> dict[str, Any]:
    def bus_bandwidth(row: NcclRow) -> float:
        return float(getattr(row, half).bus_bandwidth_gb_per_s)

    peak = max(report.rows, key=bus_bandwidth)
    return {
        f"peak_busbw_{half}_GBps": bus_bandwidth(peak),
        f"peak_busbw_{half}_at_bytes": peak.size_bytes,
        f"busbw_at_largest_{half}_GBps": bus_bandwidth(report.largest_row),
    }
