from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.elbencho import ElbenchoPhase, ElbenchoReport

MIB = 1 << 20


def as_expected(report: ElbenchoReport) -> dict[str, Any]:
    return {phase.operation.lower(): _phase(phase) for phase in report.phases}


def _phase(phase: ElbenchoPhase) -> dict[str, Any]:
    assert phase.bytes_per_s is not None and phase.moved_bytes is not None
    return {
        "throughput_MiBps": phase.bytes_per_s / MIB,
        "iops": phase.operations_per_s,
        "elapsed_s": phase.elapsed_s,
        "total_MiB": phase.moved_bytes / MIB,
    }
