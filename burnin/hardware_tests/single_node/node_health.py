"""Is the node what it should be? Many small checks, each asked for by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import SingleNodeTest
from burnin.hardware_tests.batch import SlurmBatchConfig, make_single_node_slurm_batch_config
from burnin.hardware_tests.evaluation import (
    EvaluationResult,
    EvaluationStatus,
    IterationSummary,
    NotMeasured,
    errored,
)
from burnin.hardware_tests.given import given_params
from burnin.hardware_tests.metrics import BaseMetrics
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.single_node.health.catalogue import CHECKS, HealthCheck
from burnin.hardware_tests.single_node.health.metrics import NodeHealthMetrics, NodeHealthThresholds
from burnin.hardware_tests.single_node.health.needs import is_for
from burnin.hardware_tests.single_node.health.params import NodeHealthParams
from burnin.hardware_tests.single_node.health.report import read_report
from burnin.hardware_tests.thresholds.schema import ThresholdSet
from fleet.hardware import Hardware
from runner.contract.slugs import Slugs


class NodeHealthCheckTest(SingleNodeTest):
    """A further small check is a line in the contract, a probe, a reader, a metric and a limit."""

    slug = Slugs.NODE_HEALTH
    display_name = "Node health"
    takes_s = 30
    params_class = NodeHealthParams
    metrics_class = NodeHealthMetrics
    thresholds_class = NodeHealthThresholds
    checks: ClassVar[Mapping[str, HealthCheck]] = CHECKS

    @classmethod
    def expected_duration_s(cls, params: Mapping[str, Any]) -> int:
        """Counters are watched for as long as the params say."""
        return cls.takes_s + int(params["watch_s"])

    @classmethod
    def metrics_asked(cls, params: TestParams) -> frozenset[str]:
        """Return those of its checks."""
        assert isinstance(params, NodeHealthParams)
        return frozenset(CHECKS[each].metric for each in params.checks)

    @classmethod
    def params_on(cls, params: TestParams, hardware: Hardware) -> TestParams | None:
        """Leave out checks of hardware that the class lacks, and what is golden elsewhere."""
        assert isinstance(params, NodeHealthParams)
        checks = tuple(each for each in params.checks if is_for(each, hardware))
        return params.on(hardware.resource_class, checks) if checks else None

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_single_node_slurm_batch_config(context, gpus_per_node=context.gpus_per_node)

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> NodeHealthMetrics:
        """Read what was asked for. Raises NotMeasured if nothing of it could be read."""
        asked = given_params(artifact_collector.metadata, NodeHealthParams)
        findings = read_report(artifact_collector, asked)
        if not findings.values:
            raise NotMeasured("; ".join(findings.unread))
        if findings.unread:
            findings.add("unread_checks", (len(findings.unread), "; ".join(findings.unread)))
        nothing = dict.fromkeys(NodeHealthMetrics.declarations())
        return NodeHealthMetrics.model_validate(
            {**nothing, **findings.values, "details": findings.details}
        )

    @classmethod
    def evaluate(
        cls,
        metrics: BaseMetrics,
        thresholds: ThresholdSet,
        iteration_summary: IterationSummary | None = None,
        resolved_params: Mapping[str, Any] | None = None,
    ) -> EvaluationResult:
        """Let a fault stand beside a check that could not be read; nothing passes beside one."""
        result = super().evaluate(metrics, thresholds, iteration_summary, resolved_params)
        if result.status is EvaluationStatus.FAILED or not isinstance(metrics, NodeHealthMetrics):
            return result
        if not metrics.unread_checks:
            return result
        return errored(metrics.details.get("unread_checks", "a check could not be read"))
