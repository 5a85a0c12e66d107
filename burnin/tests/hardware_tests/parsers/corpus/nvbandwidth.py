from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.nvbandwidth_report import CaseStatus, NvbandwidthReport
from burnin.tests.hardware_tests.parsers.corpus.comparison import Whole


def as_expected(report: NvbandwidthReport) -> dict[str, Any]:
    passed = report.of_status(CaseStatus.PASSED)
    waived = report.of_status(CaseStatus.WAIVED)
    names = [case.name for case in waived]
    return {
        "sums": {case.name: case.total for case in passed},
        "passed": Whole({str(case.name): case.total for case in passed}),
        "waived": names if all(names) else len(names),
        "errors": [case.name for case in report.of_status(CaseStatus.ERROR)],
        "latency_unit": next((case.unit for case in passed if "latency" in str(case.name)), None),
        "h2d_matrix": passed[0].matrix,
        "test": passed[0].name,
        "min_offdiag_GBps": passed[0].worst,
        "max_GBps": max(passed[0].values),
        "gpus": len(passed[0].columns),
    }
