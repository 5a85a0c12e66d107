from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.iperf3 import Iperf3Report, Iperf3Sum


def as_expected(report: Iperf3Report) -> dict[str, Any]:
    sent, received = report.sent, report.received
    return {
        "sum_sent": _sum(sent) if sent else None,
        "sum_received": _sum(received) if received else None,
        "sum_sent_Gbps": sent.bits_per_s / 1e9 if sent else None,
        "sender_Gbps": sent.bits_per_s / 1e9 if sent else None,
        "receiver_Gbps": received.bits_per_s / 1e9 if received else None,
        "retransmits": sent.retransmits if sent else None,
        "streams": report.streams,
        "reverse": int(report.reverse),
        "error": report.error,
        "verdict": "ok" if report.complete else "incomplete",
        "metric": "sum_received.bits_per_second",
    }


def _sum(found: Iperf3Sum) -> dict[str, Any]:
    return {
        "Gbps": found.bits_per_s / 1e9,
        "bytes": found.moved_bytes,
        "retransmits": found.retransmits,
    }
