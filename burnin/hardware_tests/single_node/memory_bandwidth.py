"""How fast the memory is that a node computes in: that of its GPUs, or where it has none its own.

The resource class decides. GPUs are measured by nvbandwidth, those of AMD by RVS and
rocm-bandwidth-test, on their ways to the host and to each other too; a node without GPUs by
STREAM's triad on all its cores at once, in HPC Challenge.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import SingleNodeTest
from burnin.hardware_tests.batch import SlurmBatchConfig, make_single_node_slurm_batch_config
from burnin.hardware_tests.evaluation import (
    EvaluationResult,
    EvaluationStatus,
    IterationSummary,
    NotMeasured,
)
from burnin.hardware_tests.gpu_node import read_gpu_node, refuse_other_class
from burnin.hardware_tests.hpcc_node import hpcc_versions, read_hpcc, wrong_parts
from burnin.hardware_tests.metrics import (
    BaseMetrics,
    Better,
    MetricUnit,
    MetricValue,
    clip_detail,
    metric,
)
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.parsers import nvbandwidth
from burnin.hardware_tests.parsers.nvbandwidth_report import NvbandwidthReport
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.rvs_node import has_amd_gpus
from burnin.hardware_tests.single_node.amd_memory import amd_memory, amd_tools, amd_wrong_data
from burnin.hardware_tests.single_node.gpu_memory import GpuMemory, Slowest, gpu_memory
from burnin.hardware_tests.thresholds.schema import Standing, Thresholds, ThresholdSet
from fleet.hardware import AMD, NO_GPU, NVIDIA, Hardware
from runner.contract.slugs import Slugs

NVIDIA_REPORT = "nvbandwidth.txt"
LEAST_OF_CACHES = 4  # how often STREAM's arrays together hold the last-level caches


class MemoryBandwidthParams(TestParams):
    """Nothing to turn: sizes and repetitions are fixed, as each moves the right floor."""


class MemoryBandwidthMetrics(BaseMetrics):
    """In reading order. What a node has not is not measured; after wrong data no speed is."""

    memory_bandwidth: MetricValue = metric(
        MetricUnit.GB_S,
        better=Better.HIGHER,
        label="Memory, read and written",
        plausible=(10, 9000),
    )
    wrong_results: int = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Checks that found wrong data"
    )
    host_to_device: MetricValue = metric(
        MetricUnit.GB_S, better=Better.HIGHER, label="Host to slowest GPU", plausible=(5, 900)
    )
    device_to_host: MetricValue = metric(
        MetricUnit.GB_S, better=Better.HIGHER, label="Slowest GPU to host", plausible=(5, 900)
    )
    peer_bandwidth: MetricValue = metric(
        MetricUnit.GB_S, better=Better.HIGHER, label="Slowest pair of GPUs", plausible=(5, 2000)
    )
    spread: MetricValue = metric(MetricUnit.PERCENT, label="Slowest GPU below the fastest")
    array_cover: MetricValue = metric(MetricUnit.RATIO, label="STREAM's arrays, of the caches")
    gpu_count: int = metric(MetricUnit.COUNT, label="GPUs measured", api_visible=False)


class MemoryBandwidthThresholds(Thresholds):
    """Limits in each metric's unit. The values are in thresholds.yaml."""

    memory_bandwidth: float = Field(gt=0)
    wrong_results: int = Field(ge=0)
    host_to_device: float = Field(gt=0)
    device_to_host: float = Field(gt=0)
    peer_bandwidth: float = Field(gt=0)


class MemoryNode(BaseModel):
    """memory-node.json: the last-level caches of a node without GPUs, all together."""

    model_config = ConfigDict(frozen=True, strict=True)

    cache_bytes: int = Field(ge=1)


class MemoryBandwidth(SingleNodeTest):
    slug = Slugs.MEMORY_BANDWIDTH
    display_name = "Memory bandwidth"
    params_class = MemoryBandwidthParams
    metrics_class = MemoryBandwidthMetrics
    thresholds_class = MemoryBandwidthThresholds
    fixed_knobs = MappingProxyType(
        {"gpu_samples": 10, "arrays_of_caches": "12, or 4 in little memory", "ranks_per_core": 1}
    )
    fingerprint_tools = ("tool",)
    gpu_makers = frozenset({NVIDIA, AMD, NO_GPU})
    container = "nvbandwidth"
    takes_s = 240

    @classmethod
    def container_on(cls, hardware: Hardware) -> str:
        return "rvs" if hardware.gpu_maker == AMD else cls.container

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_single_node_slurm_batch_config(context, gpus_per_node=context.gpus_per_node)

    def tool_versions(self, artifact_collector: ArtifactCollector) -> Mapping[str, str]:
        """Return the one tool that measured: a floor of the other kind of node is not its."""
        if _is_of_gpus(artifact_collector):
            if has_amd_gpus(artifact_collector):
                return {"tool": amd_tools(artifact_collector)}
            version = _gpu_report(artifact_collector).version
            return {"tool": f"nvbandwidth {version}" if version else ""}
        versions = hpcc_versions(artifact_collector)
        mpirun = versions.get("mpirun")
        return {"tool": f"hpcc {versions['hpcc']}, {mpirun}" if mpirun else ""}

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> MemoryBandwidthMetrics:
        """Read the report of the tool that this kind of node is measured with."""
        if not _is_of_gpus(artifact_collector):
            return _of_host(artifact_collector)
        gpu_count = read_gpu_node(artifact_collector).gpu_count
        if has_amd_gpus(artifact_collector):
            wrong = amd_wrong_data(artifact_collector)
            return (
                _of_wrong_data(wrong, gpu_count)
                if wrong
                else _of_gpus(amd_memory(artifact_collector, gpu_count), gpu_count)
            )
        report = _gpu_report(artifact_collector)
        if report.wrong_data:
            return _of_wrong_data(report.wrong_data, gpu_count)
        return _of_gpus(gpu_memory(report, gpu_count), gpu_count)

    @classmethod
    def evaluate(
        cls,
        metrics: BaseMetrics,
        thresholds: ThresholdSet,
        iteration_summary: IterationSummary | None = None,
        resolved_params: Mapping[str, Any] | None = None,
    ) -> EvaluationResult:
        """Judge nothing that the class would be measured otherwise by, and no floor unmeasured."""
        result = super().evaluate(metrics, thresholds, iteration_summary, resolved_params)
        judged = result.status is not EvaluationStatus.ERRORED
        if judged and isinstance(metrics, MemoryBandwidthMetrics):
            _refuse_other_kind(metrics, thresholds)
        return result


def _refuse_other_kind(metrics: MemoryBandwidthMetrics, thresholds: ThresholdSet) -> None:
    refuse_other_class(metrics.gpu_count, thresholds)
    for name, bound in thresholds.bounds.items():
        must = bound.standing is not Standing.NOT_GATED
        if must and not metrics.wrong_results and getattr(metrics, name) is None:
            raise NotMeasured(f"{name} was not measured, and nodes of its class have a limit of it")


def _is_of_gpus(artifact_collector: ArtifactCollector) -> bool:
    return bool(artifact_collector.get_custom_files("gpu-node.json"))


def _gpu_report(artifact_collector: ArtifactCollector) -> NvbandwidthReport:
    return nvbandwidth.parse(artifact_collector.get_custom_file(NVIDIA_REPORT).read_text())


def _of_gpus(found: GpuMemory, gpu_count: int) -> MemoryBandwidthMetrics:
    return MemoryBandwidthMetrics(
        memory_bandwidth=found.own.gb_s,
        wrong_results=0,
        host_to_device=found.to_gpu.gb_s,
        device_to_host=found.from_gpu.gb_s,
        peer_bandwidth=found.peers.gb_s if found.peers else None,
        spread=100 * (1 - found.own.gb_s / found.own.fastest_gb_s),
        array_cover=None,
        gpu_count=gpu_count,
        details=_gpu_details(found),
    )


def _of_wrong_data(wrong: Sequence[str], gpu_count: int) -> MemoryBandwidthMetrics:
    return MemoryBandwidthMetrics(
        memory_bandwidth=None,
        wrong_results=len(wrong),
        host_to_device=None,
        device_to_host=None,
        peer_bandwidth=None,
        spread=None,
        array_cover=None,
        gpu_count=gpu_count,
        details={"wrong_results": clip_detail("; ".join(wrong))},
    )


def _gpu_details(found: GpuMemory) -> dict[str, str]:
    measured: dict[str, Slowest | None] = {
        "host_to_device": found.to_gpu,
        "device_to_host": found.from_gpu,
        "peer_bandwidth": found.peers,
    }
    own = f"{found.own.where}, copied within; fastest {found.own.fastest_gb_s:.4g} GB/s"
    return {
        "memory_bandwidth": own,
        **{name: each.where for name, each in measured.items() if each},
    }


def _of_host(artifact_collector: ArtifactCollector) -> MemoryBandwidthMetrics:
    report, node = read_hpcc(artifact_collector)
    text = artifact_collector.get_custom_file("memory-node.json").read_text()
    array_bytes = 3 * 8 * report.stream.array_elements * report.processes
    cover = array_bytes / MemoryNode.model_validate_json(text).cache_bytes
    if cover < LEAST_OF_CACHES:
        raise NotMeasured(
            f"STREAM's arrays are {cover:.3g} times the caches, {LEAST_OF_CACHES} are needed:"
            " that measures caches"
        )
    wrong = wrong_parts(report)
    triad = report.stream.triad
    said = {
        "memory_bandwidth": f"STREAM triad on {report.processes} cores at once;"
        f" one alone {triad.alone:.4g} GB/s; load before it {node.load:g}"
    }
    return MemoryBandwidthMetrics(
        memory_bandwidth=triad.mean * report.processes,
        wrong_results=len(wrong),
        host_to_device=None,
        device_to_host=None,
        peer_bandwidth=None,
        spread=None,
        array_cover=cover,
        gpu_count=0,
        details={**said, "wrong_results": clip_detail("; ".join(wrong))} if wrong else said,
    )
