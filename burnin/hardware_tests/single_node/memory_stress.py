"""stressapptest over 90 % of the job's memory: does memory give back what was put into it?"""

from __future__ import annotations

from pydantic import Field

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import SingleNodeTest
from burnin.hardware_tests.batch import SlurmBatchConfig, make_single_node_slurm_batch_config
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.given import given_params
from burnin.hardware_tests.metrics import BaseMetrics, Better, MetricUnit, clip_detail, metric
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.parsers import stressapptest
from burnin.hardware_tests.parsers.stressapptest import StressapptestReport
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.thresholds.schema import Thresholds
from runner.contract.slugs import Slugs

THREE_DAYS_S = 3 * 24 * 3600


class MemoryStressParams(TestParams):
    """Memory share and threads are fixed in the recipe; a longer run finds more."""

    duration_s: int = Field(default=60, ge=5, le=THREE_DAYS_S, description="Seconds under stress.")


class MemoryStressMetrics(BaseMetrics):
    """In reading order: the number that decides comes first."""

    memory_errors: int = metric(MetricUnit.COUNT, better=Better.LOWER, label="Memory errors")
    tested_memory: float = metric(MetricUnit.GIB, label="Tested memory")
    copy_bandwidth: float = metric(
        MetricUnit.GB_S,
        better=Better.HIGHER,
        label="Memory copy, read and written",
        plausible=(1.5, 1400),
    )


class MemoryStressThresholds(Thresholds):
    """Limits in each metric's unit. The values are in thresholds.yaml."""

    memory_errors: int = Field(ge=0)
    copy_bandwidth: float = Field(gt=0)


class MemoryStress(SingleNodeTest):
    slug = Slugs.MEMORY_STRESS
    display_name = "Memory stress"
    takes_s = 60
    silent_for_s = 300.0  # stressapptest reports every 10 s
    params_class = MemoryStressParams
    metrics_class = MemoryStressMetrics
    thresholds_class = MemoryStressThresholds
    fingerprint_tools = ("stressapptest",)

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_single_node_slurm_batch_config(context, gpus_per_node=0)

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> MemoryStressMetrics:
        """Count what the tool calls hardware incidents, and name CPU and DIMM of the first."""
        log = artifact_collector.get_custom_file("stressapptest.txt").read_text()
        report = stressapptest.parse(log)
        asked = given_params(artifact_collector.metadata, MemoryStressParams)
        _refuse_short_run(report, asked.duration_s)
        return MemoryStressMetrics(
            memory_errors=report.hardware_incidents,
            tested_memory=report.tested_bytes / 1024**3,
            copy_bandwidth=report.copy_bytes_per_s / 1e9,
            details=_faults(report),
        )


def _refuse_short_run(report: StressapptestReport, duration_s: int) -> None:
    """Refuse a clean result that did not last: an interrupted run says PASS all the same."""
    if report.hardware_incidents:
        return
    if report.stopped_early or report.elapsed_s < duration_s:
        raise NotMeasured(
            f"stressapptest stopped after {report.elapsed_s:g} s of {duration_s} s: "
            "memory was not tested as long as asked"
        )


def _faults(report: StressapptestReport) -> dict[str, str]:
    # "Hardware Error" names CPU, address and DIMM; "Report Error" says it again in brief.
    lines = sorted(report.fault_lines, key=lambda line: not line.startswith("Hardware Error"))
    bare = [line.partition("Error: ")[2] for line in lines]
    return {"memory_errors": clip_detail("; ".join(bare))} if bare else {}
