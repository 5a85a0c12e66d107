from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.perftest import PerftestBandwidth, PerftestReport

BYTES_PER_S = {"MB/sec": 1 << 20, "MiB/sec": 1 << 20, "Gb/sec": 125_000_000}
NOTED_UNITS = {"Gb/sec": "Gb/s", "usec": "us"}


def as_expected(report: PerftestReport) -> dict[str, Any]:
    return {
        "unit_printed": report.printed_unit,
        "unit": NOTED_UNITS.get(report.printed_unit),
        "warnings": len(report.warnings),
        **(_latency(report) if report.latencies else _bandwidth(report)),
    }


def _bandwidth(report: PerftestReport) -> dict[str, Any]:
    factor = BYTES_PER_S[report.printed_unit]
    best = report.bandwidth_at()
    return {
        "rows": len(report.bandwidths),
        "sizes": len({row.size_bytes for row in report.bandwidths}),
        "size": best.size_bytes,
        "bw_peak": None if best.peak_bytes_per_s is None else best.peak_bytes_per_s / factor,
        "bw_average": best.average_bytes_per_s / factor,
        "msg_rate_Mpps": best.messages_per_s / 1e6,
        "max_bw_average": max(map(_average, report.bandwidths)) / factor,
        **{f"bw_average_at_{row.size_bytes}": _average(row) / factor for row in report.bandwidths},
    }


def _average(row: PerftestBandwidth) -> float:
    return row.average_bytes_per_s


def _latency(report: PerftestReport) -> dict[str, Any]:
    row = report.latency_at()
    times_s = {
        "t_min": row.minimum_s,
        "t_max": row.maximum_s,
        "t_typical": row.typical_s,
        "t_avg": row.average_s,
        "p99": row.p99_s,
        "p99.9": row.p999_s,
    }
    return {
        "size": row.size_bytes,
        **{name: None if time_s is None else time_s * 1e6 for name, time_s in times_s.items()},
    }
