"""AMD's own validation suite (`rvs -r`) on every GPU of one node: does RVS find a fault?

What RVS could not do is never a pass: a run without a fault, in which it left something of its
level out, was not measured. Its speeds of memory and links are not judged here: AMD's files state
no limits for them, and `single-node.memory-bandwidth` has its own.
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
from burnin.hardware_tests.metrics import BaseMetrics, Better, MetricUnit, clip_detail, metric
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.parsers.rvs_report import RvsReport
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.rvs_node import read_rvs
from burnin.hardware_tests.single_node.rvs_findings import Finding, findings_of, undone
from burnin.hardware_tests.thresholds.schema import Thresholds
from fleet.hardware import AMD
from runner.contract.slugs import Slugs

# What AMD's rvs/conf/MI300X/levels add up to: their durations, and the memory test's.
LEVEL_TAKES_S = {3: 300, 4: 1200, 5: 14400}


class RvsParams(TestParams):
    """The level says how much is tested, not how good it must be."""

    at_least = frozenset({"level"})

    level: int = Field(default=4, ge=3, le=5, description="3: minutes, 4: a third of an hour.")


class RvsMetrics(BaseMetrics):
    """In reading order. What RVS could not do is no metric: it is no measurement."""

    failed_tests: int = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Actions that found a fault"
    )
    failed_gpus: int = metric(MetricUnit.COUNT, better=Better.LOWER, label="GPUs named in them")
    passed_tests: int = metric(MetricUnit.COUNT, label="Actions without a fault")
    gpu_count: int = metric(MetricUnit.COUNT, label="GPUs tested", api_visible=False)


class RvsThresholds(Thresholds):
    """Limits in each metric's unit. The values are in thresholds.yaml."""

    failed_tests: int = Field(ge=0)
    failed_gpus: int = Field(ge=0)


class Rvs(SingleNodeTest):
    slug = Slugs.RVS
    display_name = "ROCm validation suite"
    params_class = RvsParams
    metrics_class = RvsMetrics
    thresholds_class = RvsThresholds
    fixed_knobs = MappingProxyType({"actions": "all of AMD's level for this GPU"})
    fingerprint_tools = ("rvs",)
    gpu_makers = frozenset({AMD})
    container = "rvs"

    @classmethod
    def expected_duration_s(cls, params: Mapping[str, Any]) -> int:
        """Each level takes several times what the one below it takes."""
        return LEVEL_TAKES_S[int(params["level"])]

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_single_node_slurm_batch_config(context, gpus_per_node=context.gpus_per_node)

    def tool_versions(self, artifact_collector: ArtifactCollector) -> Mapping[str, str]:
        """Return what the report says of RVS: it may come from a container."""
        return {"rvs": read_rvs(artifact_collector).version}

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> RvsMetrics:
        """Take what RVS holds against the hardware; without that, refuse what it left out."""
        report = read_rvs(artifact_collector)
        level = given_params(artifact_collector.metadata, RvsParams).level
        faults = findings_of(report)
        if not faults and (left_out := undone(report, level=level)):
            raise NotMeasured(f"RVS left out {'; '.join(left_out):.500}: that was not tested")
        failed = {each.action for each in faults}
        return RvsMetrics(
            failed_tests=len(failed),
            failed_gpus=len({each.gpu_id for each in faults} - {None}),
            passed_tests=len(report.actions) - len(failed & {each.name for each in report.actions}),
            gpu_count=len(report.gpus),
            details=_details(report, faults),
        )


def _details(report: RvsReport, faults: list[Finding]) -> dict[str, str]:
    said = {
        "failed_tests": "; ".join(_shown(report, each) for each in faults),
        "failed_gpus": ", ".join(
            dict.fromkeys(report.named(each.gpu_id) for each in faults if each.gpu_id is not None)
        ),
        "passed_tests": f"RVS {report.version}",
    }
    return {name: clip_detail(words) for name, words in said.items() if words}


def _shown(report: RvsReport, each: Finding) -> str:
    where = "some GPU" if each.gpu_id is None else report.named(each.gpu_id)
    return f"{where}: {each.action}: {each.words}"
