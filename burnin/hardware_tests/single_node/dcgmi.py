"""NVIDIA's own diagnostics (`dcgmi diag`) on every GPU of one node: does DCGM find a fault?

A skipped subtest is never a pass: a run without a fault, in which DCGM left something of its level
out, was not measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic import Field

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import SingleNodeTest
from burnin.hardware_tests.batch import SlurmBatchConfig, make_single_node_slurm_batch_config
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.given import given_params
from burnin.hardware_tests.gpu_node import read_gpu_node, refuse_other_count
from burnin.hardware_tests.metrics import BaseMetrics, Better, MetricUnit, clip_detail, metric
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.parsers import dcgmi_diag
from burnin.hardware_tests.parsers.dcgmi_report import DiagReport, DiagStatus, DiagTest
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.single_node.dcgmi_findings import Finding, findings_of, untested
from burnin.hardware_tests.thresholds.schema import Thresholds
from fleet.hardware import NVIDIA
from runner.contract.slugs import Slugs

LEVEL_TAKES_S = {1: 60, 2: 150, 3: 900, 4: 5400}  # NVIDIA: seconds, 2 min, 15 min, 45 to 135 min


class DcgmiParams(TestParams):
    """The level says how much is tested, not how good it must be."""

    at_least = frozenset({"level"})

    level: int = Field(default=3, ge=1, le=4, description="1: seconds, 2: minutes, 4: hours.")


class DcgmiMetrics(BaseMetrics):
    """In reading order. What DCGM could not run is no metric: it is no measurement."""

    failed_tests: int = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Subtests that found a fault"
    )
    failed_gpus: int = metric(MetricUnit.COUNT, better=Better.LOWER, label="GPUs named in them")
    warned_tests: int = metric(MetricUnit.COUNT, label="Subtests that only warn")
    passed_tests: int = metric(MetricUnit.COUNT, label="Subtests passed")
    gpu_count: int = metric(MetricUnit.COUNT, label="GPUs tested", api_visible=False)


class DcgmiThresholds(Thresholds):
    """Limits in each metric's unit. The values are in thresholds.yaml."""

    failed_tests: int = Field(ge=0)
    failed_gpus: int = Field(ge=0)


class Dcgmi(SingleNodeTest):
    slug = Slugs.DCGMI
    display_name = "DCGM diagnostics"
    params_class = DcgmiParams
    metrics_class = DcgmiMetrics
    thresholds_class = DcgmiThresholds
    fixed_knobs = MappingProxyType({"tests": "all of the level"})
    fingerprint_tools = ("dcgmi",)
    gpu_makers = frozenset({NVIDIA})
    container = "dcgm"

    @classmethod
    def expected_duration_s(cls, params: Mapping[str, Any]) -> int:
        """Each level takes several times what the one below it takes."""
        return LEVEL_TAKES_S[int(params["level"])]

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_single_node_slurm_batch_config(context, gpus_per_node=context.gpus_per_node)

    def tool_versions(self, artifact_collector: ArtifactCollector) -> Mapping[str, str]:
        """Return what the report says of DCGM: it may come from a container."""
        return {"dcgmi": _report(artifact_collector).version or ""}

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> DcgmiMetrics:
        """Take what DCGM holds against the hardware; without that, refuse what it left out."""
        report = _report(artifact_collector)
        gpu_count = read_gpu_node(artifact_collector).gpu_count
        found = findings_of(report)
        faults = [each for each in found if each.is_fault]
        if not faults:
            _refuse_unfinished(report, found)
            refuse_other_count(artifact_collector, _counted(report), "dcgmi diag")
            level = given_params(artifact_collector.metadata, DcgmiParams).level
            if left_out := untested(report, level=level, gpu_count=gpu_count):
                raise NotMeasured(f"dcgmi diag left out {left_out}: that was not tested")
        return DcgmiMetrics(
            failed_tests=len({each.test for each in faults}),
            failed_gpus=len({gpu for each in faults for gpu in each.gpus_of(gpu_count)}),
            warned_tests=len(report.tests_at(DiagStatus.WARN)),
            passed_tests=len(report.tests_at(DiagStatus.PASS)),
            gpu_count=gpu_count,
            details=_details(report, faults),
        )


def _report(artifact_collector: ArtifactCollector) -> DiagReport:
    report = dcgmi_diag.parse(artifact_collector.get_custom_file("dcgmi-diag.txt").read_text())
    if not isinstance(report, DiagReport):
        raise NotMeasured("dcgmi-diag.txt holds NVLink counters, no diagnostic")
    return report


def _refuse_unfinished(report: DiagReport, found: list[Finding]) -> None:
    if found:
        raise NotMeasured(f"dcgmi diag could not test: {'; '.join(map(str, found)):.500}")
    if report.verdict is DiagStatus.SKIP:
        raise NotMeasured("dcgmi diag skipped every subtest: nothing was tested")


def _counted(report: DiagReport) -> int:
    if report.gpu_count is None:
        raise NotMeasured(
            "dcgmi diag does not say which GPUs it tested, as DCGM 3 does not at level 1:"
            " take level 2, or DCGM 4"
        )
    return report.gpu_count


def _details(report: DiagReport, faults: list[Finding]) -> dict[str, str]:
    warned = report.tests_at(DiagStatus.WARN)
    said = {
        "failed_tests": "; ".join(map(str, faults)),
        "failed_gpus": ", ".join(dict.fromkeys(each.where for each in faults)),
        "warned_tests": "; ".join(map(_warning, warned)),
        "passed_tests": f"DCGM {report.version}" if report.version else "",
    }
    return {name: clip_detail(words) for name, words in said.items() if words}


def _warning(test: DiagTest) -> str:
    return ": ".join([test.name, *(each.text for each in test.all_warnings[:1])])
