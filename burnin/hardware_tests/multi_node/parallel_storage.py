"""The shared file system from every node at once: does each read what the others wrote?"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic import Field

from burnin.hardware_tests.absolute_path import AbsolutePath
from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import MultiNodeTest
from burnin.hardware_tests.batch import SlurmBatchConfig, make_multi_node_slurm_batch_config
from burnin.hardware_tests.given import given_params
from burnin.hardware_tests.metrics import (
    BaseMetrics,
    Better,
    MetricUnit,
    MetricValue,
    clip_detail,
    metric,
)
from burnin.hardware_tests.multi_node.parallel_storage_findings import Findings, read_findings
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.thresholds.schema import Thresholds
from runner.contract.slugs import Slugs


class ParallelStorageParams(TestParams):
    """Block size, queue depth and file size are fixed in the recipe: each moves the right floor."""

    path: AbsolutePath = Field(
        description="A directory that every node sees, with room for twice the scratch files."
    )
    duration_s: int = Field(
        default=30, ge=1, le=3600, description="Seconds of fio's two timed phases."
    )


class ParallelStorageMetrics(BaseMetrics):
    """In operator order; sums over all nodes. A speed is None where nobody measured it."""

    write_bandwidth: MetricValue = metric(
        MetricUnit.GB_S, better=Better.HIGHER, label="Write, a file each", plausible=(1, 990)
    )
    read_bandwidth: MetricValue = metric(
        MetricUnit.GB_S,
        better=Better.HIGHER,
        label="Read of another node's file",
        plausible=(1, 990),
    )
    create_rate: MetricValue = metric(
        MetricUnit.PER_SECOND, better=Better.HIGHER, label="Files created", plausible=(1e3, 9e5)
    )
    integrity_errors: int = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Wrong data and I/O errors"
    )
    shared_write_bandwidth: MetricValue = metric(
        MetricUnit.GB_S, label="Write, one file in odd pieces"
    )
    shared_read_bandwidth: MetricValue = metric(
        MetricUnit.GB_S, label="Read, one file in odd pieces"
    )
    node_count: int = metric(MetricUnit.COUNT, label="Nodes", api_visible=False)


class ParallelStorageThresholds(Thresholds):
    """Limits in each metric's unit. The values are in thresholds.yaml."""

    write_bandwidth: float = Field(gt=0)
    read_bandwidth: float = Field(gt=0)
    create_rate: float = Field(gt=0)
    integrity_errors: int = Field(ge=0)


class ParallelStorage(MultiNodeTest):
    slug = Slugs.PARALLEL_STORAGE
    display_name = "Parallel storage"
    takes_s = 60
    params_class = ParallelStorageParams
    metrics_class = ParallelStorageMetrics
    thresholds_class = ParallelStorageThresholds
    fixed_knobs = MappingProxyType({"fio_file_bytes": 256 << 20, "ior_easy_block": "4g"})
    fingerprint_tools = ("tool",)

    @classmethod
    def timed_phases(cls, params: Mapping[str, Any]) -> int:
        """Of fio, besides the one that lays out its files; IOR takes its own time."""
        return 2

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_multi_node_slurm_batch_config(context, gpus_per_node=0)

    def tool_versions(self, artifact_collector: ArtifactCollector) -> Mapping[str, str]:
        """Return the version that the report names: which tool ran is the site's choice."""
        return {"tool": read_findings(artifact_collector).tool}

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> ParallelStorageMetrics:
        asked = given_params(artifact_collector.metadata, ParallelStorageParams)
        found = read_findings(artifact_collector)
        return ParallelStorageMetrics(
            write_bandwidth=_gb_s(found.write_bytes_per_s),
            read_bandwidth=_gb_s(found.read_bytes_per_s),
            create_rate=found.creates_per_s,
            integrity_errors=len(found.faults),
            shared_write_bandwidth=_gb_s(found.shared_write_bytes_per_s),
            shared_read_bandwidth=_gb_s(found.shared_read_bytes_per_s),
            node_count=len(artifact_collector.metadata.node_names),
            details=_details(asked.path, found),
        )


def _gb_s(bytes_per_s: float | None) -> float | None:
    return None if bytes_per_s is None else bytes_per_s / 1e9


def _details(path: str, found: Findings) -> dict[str, str]:
    """Name the slowest node, and where each fault was met."""
    told = {
        "write_bandwidth": f"slowest {found.slowest_writer}" if found.slowest_writer else "",
        "read_bandwidth": f"slowest {found.slowest_reader}" if found.slowest_reader else "",
        "integrity_errors": f"{path}: " + "; ".join(found.faults) if found.faults else "",
    }
    return {name: clip_detail(text) for name, text in told.items() if text}
