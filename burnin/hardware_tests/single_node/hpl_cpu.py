"""HPL on every core of one node, by HPC Challenge: how fast, and is what comes out right?"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from pydantic import Field

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import SingleNodeTest
from burnin.hardware_tests.batch import SlurmBatchConfig, make_single_node_slurm_batch_config
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.hpcc_node import (
    FINGERPRINT_TOOLS,
    hpcc_versions,
    read_hpcc,
    wrong_parts,
)
from burnin.hardware_tests.metrics import BaseMetrics, Better, MetricUnit, clip_detail, metric
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.thresholds.schema import Thresholds
from runner.contract.slugs import Slugs


class HplCpuParams(TestParams):
    """Nothing to turn: the size follows from memory and cores, and moves the right floor."""


class HplCpuMetrics(BaseMetrics):
    """In reading order. A core's numbers are those of matrix products on all cores at once."""

    throughput: float = metric(
        MetricUnit.GFLOPS, better=Better.HIGHER, label="HPL", plausible=(10, 9_000)
    )
    wrong_results: int = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Parts with wrong results"
    )
    slowest_core: float = metric(MetricUnit.GFLOPS, label="Matrix products, slowest core")
    core_spread: float = metric(MetricUnit.PERCENT, label="Slowest core below the fastest")
    solve_time: float = metric(MetricUnit.SECONDS, label="Time to solve", api_visible=False)
    problem_size: int = metric(MetricUnit.COUNT, label="Equations (N)", api_visible=False)
    block_size: int = metric(MetricUnit.COUNT, label="Block (NB)", api_visible=False)
    process_rows: int = metric(MetricUnit.COUNT, label="Rows of processes (P)", api_visible=False)
    process_columns: int = metric(
        MetricUnit.COUNT, label="Columns of processes (Q)", api_visible=False
    )


class HplCpuThresholds(Thresholds):
    """Limits in each metric's unit. The values are in thresholds.yaml."""

    throughput: float = Field(gt=0)
    wrong_results: int = Field(ge=0)


class HplCpu(SingleNodeTest):
    slug = Slugs.HPL_CPU
    display_name = "HPL on CPUs"
    takes_s = 1200
    params_class = HplCpuParams
    metrics_class = HplCpuMetrics
    thresholds_class = HplCpuThresholds
    fixed_knobs = MappingProxyType(
        {"block": 192, "memory_share": 0.8, "most_flop_a_core": 1e13, "ranks_per_core": 1}
    )
    fingerprint_tools = FINGERPRINT_TOOLS

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_single_node_slurm_batch_config(context, gpus_per_node=0)

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> HplCpuMetrics:
        """Take HPL for the speed, and what any part checked for the results."""
        report, node = read_hpcc(artifact_collector)
        (solved,), fastest = report.hpl.results, report.dgemm.fastest
        if not solved.time_s or not fastest > 0:
            raise NotMeasured("hpcc solved HPL in no time, or multiplied nothing")
        wrong = wrong_parts(report)
        said = {"throughput": f"N={solved.n}, {node}"}
        return HplCpuMetrics(
            throughput=solved.gflops,
            wrong_results=len(wrong),
            slowest_core=report.dgemm.slowest,
            core_spread=100 * (fastest - report.dgemm.slowest) / fastest,
            solve_time=solved.time_s,
            problem_size=solved.n,
            block_size=solved.nb,
            process_rows=solved.p,
            process_columns=solved.q,
            details={**said, "wrong_results": clip_detail("; ".join(wrong))} if wrong else said,
        )

    def tool_versions(self, artifact_collector: ArtifactCollector) -> Mapping[str, str]:
        return hpcc_versions(artifact_collector)
