from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.cuda_bandwidth import BandwidthTestReport


def as_expected(report: BandwidthTestReport) -> dict[str, Any]:
    rates = {name: report.fastest(name) for name in ("Host to Device", "Device to Host")}
    h2d, d2h = rates["Host to Device"], rates["Device to Host"]
    d2d = report.fastest("Device to Device")
    assert h2d and d2h and d2d
    return {
        "h2d_MBps": h2d.printed_rate,
        "d2h_MBps": d2h.printed_rate,
        "d2d_MBps": d2d.printed_rate,
        "max_MBps": max(transfer.printed_rate for transfer in report.transfers),
        "rows": len(report.transfers),
        "devices": h2d.devices,
        "result": report.result,
    }
