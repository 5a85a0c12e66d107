"""HPCG on one node: sparse equations, bound by memory, checked by the tool.

On every GPU, by the build of its maker; on nodes without GPUs on every core, by the `xhpcg`
that the site has in PATH.
"""

from __future__ import annotations

from collections.abc import Mapping
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
from burnin.hardware_tests.gpu_node import refuse_other_class, refuse_other_count
from burnin.hardware_tests.metrics import (
    BaseMetrics,
    Better,
    MetricUnit,
    MetricValue,
    clip_detail,
    metric,
)
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.parsers import hpcg
from burnin.hardware_tests.parsers.hpcg import HpcgReport
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.thresholds.schema import Thresholds, ThresholdSet
from fleet.hardware import AMD, NO_GPU, NVIDIA, Hardware
from runner.contract.slugs import Slugs


class HpcgParams(TestParams):
    """Nothing to turn: grid and duration are fixed, as each moves the right floor."""


class HpcgMetrics(BaseMetrics):
    """In reading order. A result that HPCG calls invalid has no rating: none is shown then."""

    throughput: MetricValue = metric(
        MetricUnit.GFLOPS, better=Better.HIGHER, label="HPCG", plausible=(4, 3_900)
    )
    wrong_results: int = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Checks of HPCG that failed"
    )
    throughput_per_gpu: MetricValue = metric(MetricUnit.GFLOPS, label="HPCG, per GPU")
    gpu_count: int = metric(MetricUnit.COUNT, label="GPUs", api_visible=False)


class HpcgThresholds(Thresholds):
    """Limits in each metric's unit. The values are in thresholds.yaml."""

    throughput: float = Field(gt=0)
    wrong_results: int = Field(ge=0)


class HpcgNode(BaseModel):
    """hpcg-node.json: what a node without GPUs asked of xhpcg, one process a core."""

    model_config = ConfigDict(frozen=True, strict=True)

    ranks: int = Field(ge=1)
    edge: int = Field(ge=1)


class Hpcg(SingleNodeTest):
    slug = Slugs.HPCG
    display_name = "HPCG"
    takes_s = 120
    params_class = HpcgParams
    metrics_class = HpcgMetrics
    thresholds_class = HpcgThresholds
    fixed_knobs = MappingProxyType(
        {
            "grid": "256 x 256 x 256 a GPU, AMD 560 x 280 x 280, a core 104 x 104 x 104",
            "seconds": 60,
        }
    )
    gpu_makers = frozenset({NVIDIA, AMD, NO_GPU})
    container = "hpc-benchmarks"

    @classmethod
    def container_on(cls, hardware: Hardware) -> str:
        return "rochpcg" if hardware.gpu_maker == AMD else cls.container

    @classmethod
    def params_on(cls, params: TestParams, hardware: Hardware) -> TestParams | None:
        """Leave CPUs to whoever asks by name: their `xhpcg` and its limit are the site's own."""
        return super().params_on(params, hardware) if hardware.gpu_maker != NO_GPU else None

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_single_node_slurm_batch_config(context, gpus_per_node=context.gpus_per_node)

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> HpcgMetrics:
        """Believe HPCG's own verdict; without one, or on other GPUs than given, nothing."""
        report = hpcg.parse(artifact_collector.get_custom_file("hpcg.txt").read_text())
        if report.is_valid is None or report.processes is None:
            raise NotMeasured("HPCG does not say whether its result is valid, and on how many GPUs")
        gpu_count, words = _where(artifact_collector, report.processes)
        wrong = _failed_checks(report)
        rating = report.gflops
        details = {"throughput": words, "wrong_results": clip_detail("; ".join(wrong))}
        return HpcgMetrics(
            throughput=rating,
            wrong_results=len(wrong),
            throughput_per_gpu=rating / gpu_count if rating is not None and gpu_count else None,
            gpu_count=gpu_count,
            details={name: said for name, said in details.items() if said},
        )

    @classmethod
    def evaluate(
        cls,
        metrics: BaseMetrics,
        thresholds: ThresholdSet,
        iteration_summary: IterationSummary | None = None,
        resolved_params: Mapping[str, Any] | None = None,
    ) -> EvaluationResult:
        """Judge no node by the limits of a class that has other GPUs."""
        result = super().evaluate(metrics, thresholds, iteration_summary, resolved_params)
        judged = result.status is not EvaluationStatus.ERRORED
        if judged and isinstance(metrics, HpcgMetrics):
            refuse_other_class(metrics.gpu_count, thresholds)
        return result


def _where(artifact_collector: ArtifactCollector, processes: int) -> tuple[int, str]:
    """Return the GPUs, and words for the cores. Raises NotMeasured of others than were asked."""
    if artifact_collector.get_custom_files("gpu-node.json"):
        refuse_other_count(artifact_collector, processes, "HPCG")
        return processes, ""
    text = artifact_collector.get_custom_file("hpcg-node.json").read_text()
    node = HpcgNode.model_validate_json(text)
    if processes != node.ranks:
        raise NotMeasured(f"HPCG worked on {processes} cores, the job was given {node.ranks}")
    return 0, f"{node.ranks} cores, a grid of {node.edge} x {node.edge} x {node.edge} on each"


def _failed_checks(report: HpcgReport) -> list[str]:
    if report.is_valid:
        return []
    return list(report.failed_checks) or ["HPCG calls its result INVALID and names no check"]
