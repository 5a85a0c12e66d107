"""Many iterations of one test, and the verdict over all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.evaluation import (
    EvaluationResult,
    EvaluationStatus,
    IterationSummary,
    MetricSummary,
    bound_for,
)
from burnin.hardware_tests.metrics import BaseMetrics, Better
from burnin.hardware_tests.thresholds.schema import Bound, ThresholdSet


@dataclass(frozen=True)
class Measured:
    """What a run measured: the iteration that decides, and the verdict over all."""

    metrics: BaseMetrics
    evaluation: EvaluationResult
    bounds: Mapping[str, Bound]
    summary: IterationSummary | None


def measure_and_evaluate(
    test: BaseTest,
    collector: ArtifactCollector,
    thresholds: ThresholdSet,
    *,
    resolved_params: Mapping[str, Any],
) -> Measured:
    """Judge every iteration, then the run. Raises whatever `extract_metrics` raises."""
    measured = [test.measure(each) for each in collector.iterations()]
    results = [
        test.evaluate(each, thresholds, resolved_params=resolved_params) for each in measured
    ]
    if len(measured) == 1:
        return Measured(measured[0], results[0], _bounds(measured[0], thresholds), None)
    summary = summarise(measured, results)
    decisive = measured[_decisive(results)]
    verdict = test.evaluate(decisive, thresholds, summary, resolved_params)
    return Measured(decisive, verdict, _bounds(decisive, thresholds), summary)


def _bounds(metrics: BaseMetrics, thresholds: ThresholdSet) -> Mapping[str, Bound]:
    """Return each bound as it was asked: of those of several fabrics the one of this result."""
    return {name: bound_for(metrics, bound) for name, bound in thresholds.bounds.items()}


def summarise(
    measured: Sequence[BaseMetrics], results: Sequence[EvaluationResult]
) -> IterationSummary:
    """Return how many iterations passed, and each number's worst, median and spread."""
    statuses = [each.status for each in results]
    return IterationSummary(
        passed=statuses.count(EvaluationStatus.PASSED),
        failed=statuses.count(EvaluationStatus.FAILED),
        errored=statuses.count(EvaluationStatus.ERRORED),
        metrics={
            name: _summary_of(declared.better, values)
            for name, declared in measured[0].declarations().items()
            if (values := [float(v) for each in measured if (v := getattr(each, name)) is not None])
        },
    )


def _summary_of(better: Better | None, values: Sequence[float]) -> MetricSummary:
    worst = min(values) if better is Better.HIGHER else max(values)
    return MetricSummary(worst, median(values), max(values) - min(values))


def _decisive(results: Sequence[EvaluationResult]) -> int:
    """The first failure decides, else the first error, else the last iteration."""
    statuses = [each.status for each in results]
    for status in (EvaluationStatus.FAILED, EvaluationStatus.ERRORED):
        if status in statuses:
            return statuses.index(status)
    return len(statuses) - 1
