from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.gpu_fryer import GpuFryerReport


def as_expected(report: GpuFryerReport) -> dict[str, Any]:
    slowest = min(report.gpus, key=lambda gpu: gpu.mean_gflops or 0)
    return {
        "precision": report.precision,
        "gpus": len(report.gpus),
        "slowest": {"index": slowest.index, "mean_gflops": slowest.mean_gflops},
        "throttled": {
            str(gpu.index): list(gpu.throttle_reasons)
            for gpu in report.gpus
            if gpu.throttle_reasons
        },
        "reasons": len(report.reasons),
    }
