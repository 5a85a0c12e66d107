"""What nvidia-smi said of each GPU while the workload ran: gpu-samples.csv.

We end nvidia-smi when the workload ends, in mid-line if need be: a last line without its end is
left out, and too few samples are no samples.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers import nvidia_smi
from burnin.hardware_tests.parsers.nvidia_smi_csv import (
    HARDWARE_THROTTLE,
    THROTTLE_REASONS,
    NvidiaSmiGpu,
    NvidiaSmiQuery,
)
from runner.contract.sampling import END_OF_SAMPLES, period_s

MOST_LOST = 0.5  # share of the samples asked for


@dataclass(frozen=True)
class SampledGpu:
    """One GPU under load. `throttled` counts samples in which its hardware slowed it down."""

    index: int
    samples: int
    hottest_c: float
    median_power_w: float
    throttled: int
    throttle_reasons: tuple[str, ...]


def sampled_gpus(text: str, *, gpu_count: int, duration_s: int) -> tuple[SampledGpu, ...]:
    """Return every GPU of the job; raise NotMeasured where one was not watched as asked."""
    said, end, _ = text.partition(END_OF_SAMPLES)
    if not end:
        raise NotMeasured("gpu-samples.csv is cut: it lacks the mark of its end")
    whole_lines = said[: said.rfind("\n") + 1]
    query = nvidia_smi.parse(whole_lines)
    if not isinstance(query, NvidiaSmiQuery):
        raise NotMeasured("gpu-samples.csv holds no samples of nvidia-smi")
    if query.lost:
        raise NotMeasured(f"nvidia-smi lost the GPU at {', '.join(sorted(set(query.lost)))}")
    by_index = {index: [g for g in query.gpus if g.index == index] for index in range(gpu_count)}
    wanted = duration_s / period_s(duration_s) * (1 - MOST_LOST)
    for index, samples in by_index.items():
        if len(samples) < wanted:
            raise NotMeasured(
                f"nvidia-smi left {len(samples)} samples of GPU {index}, at least {wanted:.0f} are"
                f" needed for {duration_s} s: it was not watched"
            )
    return tuple(_sampled(index, samples, wanted) for index, samples in by_index.items())


def _sampled(index: int, samples: list[NvidiaSmiGpu], wanted: float) -> SampledGpu:
    def told(what: str, values: Iterable[float | None]) -> list[float]:
        return _told(index, what, values, wanted)

    masks = told("throttle reasons", (each.throttle_mask for each in samples))
    throttled = [int(mask) & HARDWARE_THROTTLE for mask in masks if int(mask) & HARDWARE_THROTTLE]
    seen = Counter(why for mask in throttled for bit, why in THROTTLE_REASONS.items() if mask & bit)
    return SampledGpu(
        index=index,
        samples=len(samples),
        hottest_c=max(told("temperature", (each.temperature_c for each in samples))),
        median_power_w=median(told("power", (each.power_w for each in samples))),
        throttled=len(throttled),
        throttle_reasons=tuple(why for why, _ in seen.most_common()),
    )


def _told(index: int, what: str, values: Iterable[float | None], wanted: float) -> list[float]:
    told = [value for value in values if value is not None]
    if len(told) < wanted:
        raise NotMeasured(
            f"nvidia-smi tells {what} of GPU {index} in {len(told)} samples, at least {wanted:.0f}"
            " are needed: that was not watched"
        )
    return told
