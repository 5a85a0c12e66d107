from __future__ import annotations

import statistics
from typing import Any

from burnin.hardware_tests.parsers.training import TrainingLog


def as_expected(log: TrainingLog) -> dict[str, Any]:
    return {
        "iterations": [
            {
                "iteration": step.number,
                "ms": None if step.time_s is None else step.time_s * 1e3,
                "samples_per_s": step.samples_per_s,
                "tflops_per_gpu": step.tflops_per_gpu,
            }
            for step in log.steps
        ],
        "mean_tflops_excluding_first": statistics.fmean(
            step.tflops_per_gpu for step in log.after_warm_up if step.tflops_per_gpu is not None
        ),
        "nan_iterations": len(log.broken_steps),
    }
