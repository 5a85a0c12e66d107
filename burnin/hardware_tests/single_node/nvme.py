"""Every NVMe drive of a node: what it says of its own health, and how fast it reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pydantic import Field

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import SingleNodeTest
from burnin.hardware_tests.batch import SlurmBatchConfig, make_single_node_slurm_batch_config
from burnin.hardware_tests.metrics import (
    BaseMetrics,
    Better,
    MetricUnit,
    MetricValue,
    clip_detail,
    metric,
)
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.single_node.nvme_drive import Drive, read_drives
from burnin.hardware_tests.thresholds.schema import Thresholds
from runner.contract.slugs import Slugs

USUAL_DRIVES = 8  # of a node with eight GPUs


class NvmeParams(TestParams):
    """Block size, queue depth and the number of jobs are fixed: each moves the right floor."""

    duration_s: int = Field(
        default=30, ge=1, le=3600, description="Seconds of each of two phases, on each drive."
    )


class NvmeMetrics(BaseMetrics):
    """In reading order. A speed is None where I/O errors broke it off on every drive.

    A drive with I/O errors has no speed, so it is not the slowest: it fails by its errors.
    """

    failing_drives: int = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Drives that say they fail"
    )
    io_errors: int = metric(MetricUnit.COUNT, better=Better.LOWER, label="Drives with I/O errors")
    media_errors: int = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Worst drive, media errors"
    )
    wear: float = metric(MetricUnit.PERCENT, better=Better.LOWER, label="Worst drive, life used")
    random_reads: MetricValue = metric(
        MetricUnit.IOPS,
        better=Better.HIGHER,
        label="Slowest drive, random read of 4 KiB",
        plausible=(1e4, 9e6),
    )
    read_bandwidth: MetricValue = metric(
        MetricUnit.GB_S,
        better=Better.HIGHER,
        label="Slowest drive, sequential read",
        plausible=(0.1, 90),
    )
    read_latency: MetricValue = metric(
        MetricUnit.MICROSECONDS,
        better=Better.LOWER,
        label="Worst drive, p99 latency of random reads",
        plausible=(20, 19_000),
    )
    spread: MetricValue = metric(
        MetricUnit.PERCENT, label="Slowest drive's random reads, of the fastest's"
    )
    drive_count: int = metric(MetricUnit.COUNT, label="Drives tested")


class NvmeThresholds(Thresholds):
    """Limits in each metric's unit. The values are in thresholds.yaml."""

    failing_drives: int = Field(ge=0)
    io_errors: int = Field(ge=0)
    media_errors: int = Field(ge=0)
    wear: float = Field(gt=0)
    random_reads: float = Field(gt=0)
    read_bandwidth: float = Field(gt=0)
    read_latency: float = Field(gt=0)


# By metric, which of several drives is the worst.
_WORST: Mapping[str, Callable[..., str]] = MappingProxyType(
    {
        "media_errors": max,
        "wear": max,
        "random_reads": min,
        "read_bandwidth": min,
        "read_latency": max,
    }
)


class Nvme(SingleNodeTest):
    slug = Slugs.NVME
    display_name = "NVMe drives"
    takes_s = 30
    params_class = NvmeParams
    metrics_class = NvmeMetrics
    thresholds_class = NvmeThresholds
    fixed_knobs = MappingProxyType(
        {"read": "1M, depth 8", "randread": "4k, depth 16, 16 jobs, lfsr", "ramp_s": 5}
    )
    fingerprint_tools = ("fio",)

    @classmethod
    def timed_phases(cls, params: Mapping[str, Any]) -> int:
        """Of one drive."""
        return 2

    @classmethod
    def expected_duration_s(cls, params: Mapping[str, Any]) -> int:
        """One drive after the other."""
        return cls.takes_s + USUAL_DRIVES * cls.timed_phases(params) * int(params["duration_s"])

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_single_node_slurm_batch_config(context, gpus_per_node=0)

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> NvmeMetrics:
        """Report the worst drive of each kind: one bad drive is the fault we look for."""
        drives = read_drives(artifact_collector)
        ranked = {name: _worst(drives, name) for name in _WORST}
        values = {name: value for name, (value, _) in ranked.items()}
        details = {name: place for name, (_, place) in ranked.items() if place}
        failing = [f"{each.told}: {', '.join(each.faults)}" for each in drives if each.faults]
        broken = [f"{each.told}: {'; '.join(each.io_faults)}" for each in drives if each.io_faults]
        details |= {"failing_drives": clip_detail("; ".join(failing))} if failing else {}
        details |= {"io_errors": clip_detail("; ".join(broken))} if broken else {}
        return NvmeMetrics.model_validate(
            {
                **values,
                "failing_drives": len(failing),
                "io_errors": len(broken),
                "spread": _spread(drives),
                "drive_count": len(drives),
                "details": details,
            }
        )


def _worst(drives: Sequence[Drive], name: str) -> tuple[float | None, str]:
    """Return the worst drive's value and which it is; None where an error left none to compare."""
    known = {each.told: value for each in drives if (value := each.values[name]) is not None}
    if not known:
        return None, ""
    place = _WORST[name](known, key=lambda told: known[told])
    return known[place], place


def _spread(drives: Sequence[Drive]) -> float | None:
    rates = [value for each in drives if (value := each.values["random_reads"]) is not None]
    return 100 * min(rates) / max(rates) if rates else None
