from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.hpcc_report import HpccReport
from burnin.tests.hardware_tests.parsers.corpus import hpl


def as_expected(report: HpccReport) -> dict[str, Any]:
    return {
        "processes": report.processes,
        "success": report.success,
        "hpl": hpl.as_expected(report.hpl),
        "dgemm_slowest_gflops": report.dgemm.slowest,
        "dgemm_alone_gflops": report.dgemm.alone,
        "stream_array_elements": report.stream.array_elements,
        "stream_triad_gb_per_s": report.stream.triad.mean,
        "stream_copy_alone_gb_per_s": report.stream.copy.alone,
        "wrong_sections": list(report.wrong_sections),
    }
