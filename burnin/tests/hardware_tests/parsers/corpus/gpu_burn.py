from __future__ import annotations

import re
from typing import Any

from burnin.hardware_tests.parsers.gpu_burn import GpuBurnReport


def as_expected(report: GpuBurnReport) -> dict[str, Any]:
    return {
        "gpus": len(report.gpus),
        "ok": [gpu.index for gpu in report.gpus if gpu.ok],
        "faulty": [gpu.index for gpu in report.gpus if gpu.ok is False],
        "died": [gpu.index for gpu in report.gpus if gpu.died],
        "last_gflops": [gpu.last_gflops for gpu in report.gpus],
        "errors": [gpu.worst_errors for gpu in report.gpus],
        "verdict": "ok" if report.passed else "failed",
        "reason": next(iter(re.findall(r"CUDA_ERROR_\w+", str(report.reasons))), None),
    }
