"""stress-ng on every CPU of the job, every result checked: does a CPU compute what it should?"""

from __future__ import annotations

from types import MappingProxyType

from pydantic import Field

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import SingleNodeTest
from burnin.hardware_tests.batch import SlurmBatchConfig, make_single_node_slurm_batch_config
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.given import given_params
from burnin.hardware_tests.metrics import BaseMetrics, Better, MetricUnit, clip_detail, metric
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.parsers import stress_ng
from burnin.hardware_tests.parsers.stress_ng import StressNgReport
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.thresholds.schema import Thresholds
from runner.contract.slugs import Slugs

THREE_DAYS_S = 3 * 24 * 3600


class CpuStressParams(TestParams):
    """Methods and number of workers are fixed in the recipe; a longer run finds more."""

    duration_s: int = Field(default=60, ge=1, le=THREE_DAYS_S, description="Seconds under stress.")


class CpuStressMetrics(BaseMetrics):
    """In reading order: the number that decides comes first."""

    wrong_values: int = metric(MetricUnit.COUNT, better=Better.LOWER, label="Wrong values")
    failed_workers: int = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Workers that computed wrong values"
    )
    stressed_cpus: int = metric(MetricUnit.COUNT, label="CPUs under stress")
    cpu_time: float = metric(MetricUnit.PERCENT, label="CPU time the workers got")


class CpuStressThresholds(Thresholds):
    """Limits in each metric's unit. The values are in thresholds.yaml."""

    wrong_values: int = Field(ge=0)
    failed_workers: int = Field(ge=0)


class CpuStress(SingleNodeTest):
    slug = Slugs.CPU_STRESS
    display_name = "CPU stress"
    takes_s = 5
    params_class = CpuStressParams
    metrics_class = CpuStressMetrics
    thresholds_class = CpuStressThresholds
    fixed_knobs = MappingProxyType({"stressor": "cpu", "methods": "all", "verify": "yes"})
    fingerprint_tools = ("stress-ng",)

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_single_node_slurm_batch_config(context, gpus_per_node=0)

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> CpuStressMetrics:
        """Count what the tool calls failures: each worker stops after its fifth."""
        report = stress_ng.parse(artifact_collector.get_custom_file("stress-ng.txt").read_text())
        asked = given_params(artifact_collector.metadata, CpuStressParams)
        _refuse_short_run(report, asked.duration_s)
        busy_s = sum(each.cpu_s for each in report.stressors)
        return CpuStressMetrics(
            wrong_values=len(report.fault_lines),
            failed_workers=report.failed_workers,
            stressed_cpus=report.workers,
            cpu_time=100 * busy_s / (report.elapsed_s * report.workers),
            details=_faults(report),
        )


def _refuse_short_run(report: StressNgReport, duration_s: int) -> None:
    """Refuse a clean result that did not last: an interrupted run says success all the same."""
    if not report.workers or not report.elapsed_s:
        raise NotMeasured("stress-ng started no worker")
    if report.passed and report.elapsed_s < duration_s:
        raise NotMeasured(
            f"stress-ng stopped after {report.elapsed_s:g} s of {duration_s} s: "
            "the CPUs were not tested as long as asked"
        )


def _faults(report: StressNgReport) -> dict[str, str]:
    if report.passed:
        return {}
    words = "; ".join(dict.fromkeys(report.fault_lines))
    return {
        "wrong_values": clip_detail(words),
        "failed_workers": f"{report.failed_workers} of {report.workers} workers",
    }
