from __future__ import annotations

import math
from typing import Any

from burnin.hardware_tests.parsers.hpl_report import HplReport, HplResult


def as_expected(report: HplReport) -> dict[str, Any]:
    return {
        "results": [_result(result) for result in report.results],
        "best_gflops": report.best.gflops if report.best else None,
        "tests": report.tests,
        "passed": report.passed,
        "failed": report.failed,
        "skipped": report.skipped,
        "verdict": "passed" if report.all_passed else "failed",
    }


def _result(result: HplResult) -> dict[str, Any]:
    residual = result.residuals[0].value
    return {
        "N": result.n,
        "NB": result.nb,
        "P": result.p,
        "Q": result.q,
        "time_s": result.time_s,
        "gflops": result.gflops,
        "gflops_per_gpu": result.gflops_per_gpu,
        "residual": "nan" if math.isnan(residual) else residual,
        "passed": result.passed,
    }
