"""fio on a scratch directory, or read-only on a named device: fast enough, and nothing lost?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, model_validator

from burnin.hardware_tests.absolute_path import AbsolutePath
from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import SingleNodeTest
from burnin.hardware_tests.batch import SlurmBatchConfig, make_single_node_slurm_batch_config
from burnin.hardware_tests.given import given_params
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
from burnin.hardware_tests.single_node.storage_phases import Phase, read_phase
from burnin.hardware_tests.thresholds.schema import Thresholds
from runner.contract.slugs import Slugs


class StorageParams(TestParams):
    """Block size, queue depth and file size are fixed in the recipe: each moves the right floor."""

    target: Literal["directory", "device"] = Field(
        default="directory", description="A device is only read, never written."
    )
    path: AbsolutePath = Field(
        default="/tmp",
        description="The scratch directory, or the block device, e.g. /dev/nvme0n1.",
    )
    duration_s: int = Field(default=10, ge=1, le=3600, description="Seconds of each phase.")

    @model_validator(mode="after")
    def _devices_live_in_dev(self) -> StorageParams:
        if self.target == "device" and not self.path.startswith("/dev/"):
            raise ValueError(f"the device {self.path} must be named below /dev/")
        return self


class StorageMetrics(BaseMetrics):
    """In operator order. A speed is None where nobody measured it: an error broke its phase off.

    A device is never written, so it has no write bandwidth either.
    """

    read_bandwidth: MetricValue = metric(
        MetricUnit.GB_S, better=Better.HIGHER, label="Sequential read", plausible=(0.1, 90)
    )
    write_bandwidth: MetricValue = metric(
        MetricUnit.GB_S, better=Better.HIGHER, label="Sequential write", plausible=(0.1, 90)
    )
    random_reads: MetricValue = metric(
        MetricUnit.IOPS, better=Better.HIGHER, label="Random read, 4 KiB", plausible=(5e3, 4.5e6)
    )
    read_latency: MetricValue = metric(
        MetricUnit.MICROSECONDS,
        better=Better.LOWER,
        label="Random read, p99 latency",
        plausible=(20, 19_000),
    )
    io_errors: int = metric(MetricUnit.COUNT, better=Better.LOWER, label="Phases with I/O errors")


class StorageThresholds(Thresholds):
    """Limits in each metric's unit. The values are in thresholds.yaml."""

    read_bandwidth: float = Field(gt=0)
    write_bandwidth: float = Field(gt=0)
    random_reads: float = Field(gt=0)
    read_latency: float = Field(gt=0)
    io_errors: int = Field(ge=0)


class Storage(SingleNodeTest):
    slug = Slugs.STORAGE
    display_name = "Local storage"
    takes_s = 30
    params_class = StorageParams
    metrics_class = StorageMetrics
    thresholds_class = StorageThresholds
    fingerprint_tools = ("fio",)

    @classmethod
    def timed_phases(cls, params: Mapping[str, Any]) -> int:
        """A device is only read; a directory is written, besides the phase that verifies."""
        return 2 if params["target"] == "device" else 3

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_single_node_slurm_batch_config(context, gpus_per_node=0)

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> StorageMetrics:
        """Read one report per phase. A directory is written and verified, a device only read."""
        asked = given_params(artifact_collector.metadata, StorageParams)
        phases = _phases(artifact_collector, asked.target)
        faults = [phase.fault for phase in phases.values() if phase.fault]
        read, random_read = phases["read"].transfer, phases["randread"].transfer
        write = phases["write"].transfer if "write" in phases else None
        return StorageMetrics(
            read_bandwidth=read.bytes_per_s / 1e9 if read else None,
            write_bandwidth=write.bytes_per_s / 1e9 if write else None,
            random_reads=random_read.iops if random_read else None,
            read_latency=phases["randread"].p99_s * 1e6 if random_read else None,
            io_errors=len(faults),
            details={"io_errors": _place(asked.path, faults)} if faults else {},
        )


def _place(path: str, faults: list[str]) -> str:
    return clip_detail(f"{path}: " + "; ".join(faults))


def _phases(artifact_collector: ArtifactCollector, target: str) -> dict[str, Phase]:
    """Return every phase of the recipe by name; raises for each that left no report."""
    names = {"directory": ("verify", "write", "read", "randread"), "device": ("read", "randread")}
    return {
        name: read_phase(name, artifact_collector.get_custom_file(f"fio-{name}.json").read_text())
        for name in names[target]
    }
