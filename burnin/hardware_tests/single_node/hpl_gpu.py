"""HPL and HPL-MxP on every GPU of one node: how fast, and is what comes out right?"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import SingleNodeTest
from burnin.hardware_tests.batch import SlurmBatchConfig, make_single_node_slurm_batch_config
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.gpu_node import refuse_other_count
from burnin.hardware_tests.metrics import (
    BaseMetrics,
    Better,
    MetricUnit,
    MetricValue,
    clip_detail,
    metric,
)
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.parsers import hpl
from burnin.hardware_tests.parsers.hpl_report import HplReport, HplResult
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.rvs_node import has_amd_gpus
from burnin.hardware_tests.thresholds.schema import Thresholds
from fleet.hardware import AMD, NVIDIA, Hardware
from runner.contract.slugs import Slugs

_BANNER = re.compile(r"^HPL(?:-MxP)?-NVIDIA +(\d\S*)", re.MULTILINE | re.IGNORECASE)


class HplGpuParams(TestParams):
    """Nothing to turn: the size follows from the GPUs' memory, and moves the right floor."""


class HplGpuMetrics(BaseMetrics):
    """In reading order: the number that decides comes first."""

    throughput: float = metric(
        MetricUnit.TFLOPS, better=Better.HIGHER, label="HPL, FP64", plausible=(2, 1_900)
    )
    wrong_results: int = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Solutions with a failed residual"
    )
    throughput_per_gpu: float = metric(MetricUnit.TFLOPS, label="HPL, FP64, per GPU")
    problem_size: int = metric(MetricUnit.COUNT, label="Equations (N)", api_visible=False)
    block_size: int = metric(MetricUnit.COUNT, label="Block (NB)", api_visible=False)


class HplGpuThresholds(Thresholds):
    """Limits in each metric's unit. The values are in thresholds.yaml."""

    throughput: float = Field(gt=0)
    wrong_results: int = Field(ge=0)


class HplMxpMetrics(BaseMetrics):
    """In reading order. Of the score most of the time goes into refinement, not into the GPUs.

    rocHPL-MxP prints nothing but the score.
    """

    lu_throughput: MetricValue = metric(
        MetricUnit.TFLOPS, better=Better.HIGHER, label="LU, FP16", plausible=(20, 19_000)
    )
    wrong_results: int = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Solutions with a failed residual"
    )
    throughput: float = metric(
        MetricUnit.TFLOPS,
        better=Better.HIGHER,
        label="HPL-MxP, with the refinement",
        plausible=(20, 19_000),
    )
    problem_size: int = metric(MetricUnit.COUNT, label="Equations (N)", api_visible=False)
    block_size: int = metric(MetricUnit.COUNT, label="Block (NB)", api_visible=False)


class HplMxpThresholds(Thresholds):
    """Limits in each metric's unit. The values are in thresholds.yaml."""

    lu_throughput: float = Field(gt=0)
    wrong_results: int = Field(ge=0)
    throughput: float = Field(gt=0)


class HplProblem(BaseModel):
    """results/hpl-problem.json: what the node was to solve."""

    model_config = ConfigDict(frozen=True, strict=True)

    n: int = Field(ge=1)
    nb: int = Field(ge=1)
    p: int = Field(ge=1)
    q: int = Field(ge=1)


class HplOnGpus(SingleNodeTest, abstract=True):
    """The family's base: one solution, of what was asked, one rank a GPU."""

    params_class = HplGpuParams
    container = "hpc-benchmarks"
    fingerprint_tools = ("hpl",)
    report: ClassVar[str]

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_single_node_slurm_batch_config(context, gpus_per_node=context.gpus_per_node)

    def tool_versions(self, artifact_collector: ArtifactCollector) -> Mapping[str, str]:
        """Take the version from NVIDIA's banner: a tool in a container cannot be asked."""
        banner = _BANNER.search(artifact_collector.get_custom_file(self.report).read_text())
        own = {"hpl": banner[1]} if banner else {}
        return {**artifact_collector.metadata.tools, **own}

    def solved(self, artifact_collector: ArtifactCollector) -> tuple[HplReport, HplResult]:
        """Return the one solution. Raises NotMeasured if it is not what was asked for."""
        report = hpl.parse(artifact_collector.get_custom_file(self.report).read_text())
        text = artifact_collector.get_custom_file("hpl-problem.json").read_text()
        asked = HplProblem.model_validate_json(text)
        found = [HplProblem(n=each.n, nb=each.nb, p=each.p, q=each.q) for each in report.results]
        if found != [asked] or report.unchecked or report.skipped:
            raise NotMeasured(f"asked for {asked}; HPL solved and checked {found or 'nothing'}")
        refuse_other_count(artifact_collector, asked.p * asked.q, self.display_name)
        return report, report.results[0]


class HplGpu(HplOnGpus):
    slug = Slugs.HPL_GPU
    display_name = "HPL on GPUs"
    takes_s = 240
    metrics_class = HplGpuMetrics
    thresholds_class = HplGpuThresholds
    fixed_knobs = MappingProxyType({"block": "1024, AMD 512", "memory_share": 0.82})
    gpu_makers = frozenset({NVIDIA, AMD})
    report = "hpl.txt"

    @classmethod
    def container_on(cls, hardware: Hardware) -> str:
        return "rochpl" if hardware.gpu_maker == AMD else cls.container

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> HplGpuMetrics:
        report, result = self.solved(artifact_collector)
        return HplGpuMetrics(
            throughput=result.gflops / 1000,
            wrong_results=report.failed,
            throughput_per_gpu=result.gflops / 1000 / (result.p * result.q),
            problem_size=result.n,
            block_size=result.nb,
            details=_details("throughput", report),
        )


class HplMxp(HplOnGpus):
    slug = Slugs.HPL_MXP
    display_name = "HPL-MxP"
    takes_s = 120
    metrics_class = HplMxpMetrics
    thresholds_class = HplMxpThresholds
    fixed_knobs = MappingProxyType(
        {"block": "1024, AMD 2560", "memory_share": "0.442, AMD 0.82", "sloppy_type": "FP16"}
    )
    gpu_makers = frozenset({NVIDIA, AMD})
    report = "hpl-mxp.txt"

    @classmethod
    def container_on(cls, hardware: Hardware) -> str:
        return "rochplmxp" if hardware.gpu_maker == AMD else cls.container

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> HplMxpMetrics:
        report, result = self.solved(artifact_collector)
        lu = result.lu_gflops
        if report.variant != "hpl-mxp" or (lu is None) != has_amd_gpus(artifact_collector):
            raise NotMeasured(f"the report is of another {report.variant} than was asked for")
        return HplMxpMetrics(
            lu_throughput=None if lu is None else lu / 1000,
            wrong_results=report.failed,
            throughput=result.gflops / 1000,
            problem_size=result.n,
            block_size=result.nb,
            details=_details("throughput" if lu is None else "lu_throughput", report),
        )


def _details(speed: str, report: HplReport) -> dict[str, str]:
    """Say what HPL warned of (clocks, heat, power), and which residual failed."""
    (result,) = report.results
    residuals = [f"residual {each.value:g}" for each in result.residuals if not each.passed]
    said = {
        speed: "; ".join([f"N={result.n}, NB={result.nb}", *report.warnings]),
        "wrong_results": "; ".join(residuals),
    }
    return {name: clip_detail(words) for name, words in said.items() if words}
