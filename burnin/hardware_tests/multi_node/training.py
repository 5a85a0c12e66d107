"""Data-parallel trainings: does every rank end with the same weights, and which one is slow?"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import median

from pydantic import Field

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import MultiNodeTest
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.metrics import (
    BaseMetrics,
    Better,
    MetricUnit,
    MetricValue,
    clip_detail,
    metric,
)
from burnin.hardware_tests.multi_node.training_report import TrainingReport, read_report
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.thresholds.schema import Thresholds

THREE_DAYS_S = 3 * 24 * 3600
NAMED = 5  # ranks in a detail


class TrainingParams(TestParams):
    """Network, batch and data are fixed in the recipe; a longer run finds more."""

    duration_s: int = Field(
        default=300, ge=1, le=THREE_DAYS_S, description="Seconds; the last round is finished."
    )


class TrainingMetrics(BaseMetrics):
    """In operator order. The slowest rank sets the pace, so its time is the value."""

    throughput: float = metric(
        MetricUnit.GFLOPS, better=Better.HIGHER, label="Throughput of a rank", plausible=(5, 4500)
    )
    differing_ranks: int = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Ranks that ended with other weights"
    )
    rising_rounds: int = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Rounds whose loss did not fall"
    )
    straggler_ratio: float = metric(
        MetricUnit.RATIO, better=Better.LOWER, label="Slowest rank to median", plausible=(1.005, 5)
    )
    step_time: float = metric(MetricUnit.MILLISECONDS, label="Step, median")
    step_time_spread: float = metric(MetricUnit.PERCENT, label="Step, p99 above median")
    loss_ratio: MetricValue = metric(MetricUnit.RATIO, label="Last loss of a round to its first")
    rank_count: int = metric(MetricUnit.COUNT, label="Ranks", api_visible=False)
    step_count: int = metric(MetricUnit.COUNT, label="Steps", api_visible=False)


class TrainingThresholds(Thresholds):
    """Limits in each metric's unit. The values are in thresholds.yaml."""

    throughput: float = Field(gt=0)
    differing_ranks: int = Field(ge=0)
    rising_rounds: int = Field(ge=0)
    straggler_ratio: float = Field(ge=1)


class Training(MultiNodeTest, abstract=True):
    """The family's base: whoever computes, the report is the same."""

    params_class = TrainingParams
    takes_s = 60
    silent_for_s = 900.0  # a line for each round, once its image is there
    thresholds_class = TrainingThresholds

    def tool_versions(self, artifact_collector: ArtifactCollector) -> Mapping[str, str]:
        """Return what the ranks computed with: no node can be asked before they run."""
        return read_report(artifact_collector).versions


def refuse_other_places(report: TrainingReport, expected: list[str]) -> None:
    """Raise NotMeasured unless there was one rank in each of the places."""
    if sorted(report.places) != sorted(expected):
        raise NotMeasured(
            f"{report.ranks} ranks were on {', '.join(report.places)}, not one on each of "
            f"{', '.join(expected)}"
        )


def measured_values(report: TrainingReport, *, flops_of_unit: float) -> dict[str, object]:
    """Return every metric by name; the throughput in units of so many operations a second."""
    step_s = max(report.step_s)
    first, last = report.losses[0], report.losses[-1]
    return {
        "throughput": report.flop / step_s / flops_of_unit,
        "differing_ranks": len(report.differing_ranks),
        "rising_rounds": len(report.rising_rounds),
        "straggler_ratio": max(report.compute_s) / median(report.compute_s),
        "step_time": 1e3 * step_s,
        "step_time_spread": 100 * (max(report.p99_step_s) - step_s) / step_s,
        "loss_ratio": last / first if first and last is not None else None,
        "rank_count": report.ranks,
        "step_count": report.rounds * report.steps,
        "details": _details(report),
    }


def _details(report: TrainingReport) -> dict[str, str]:
    """Name the slowest ranks, and each that went wrong."""
    slowest = sorted(zip(report.compute_s, report.places, strict=True), reverse=True)
    versions = ", ".join(f"{name} {version}" for name, version in report.versions.items())
    told = {
        "throughput": f"{report.ranks} ranks, {versions}",
        "straggler_ratio": ", ".join(f"{place} {1e3 * s:.3g} ms" for s, place in slowest[:NAMED]),
        "differing_ranks": _differing(report),
        "rising_rounds": _rising(report),
    }
    return {name: clip_detail(text) for name, text in told.items() if text}


def _differing(report: TrainingReport) -> str:
    names = ", ".join(report.places[rank] for rank in report.differing_ranks)
    return f"{names}, first in round {report.unequal[0].number}" if names else ""


def _rising(report: TrainingReport) -> str:
    last = {report.rounds: report.losses} if report.rounds in report.rising_rounds else {}
    rounds = {**{each.number: each.losses for each in report.risen}, **last}
    return "; ".join(
        f"round {number}: {_shown(losses[0])} to {_shown(losses[-1])}"
        for number, losses in rounds.items()
    )


def _shown(loss: float | None) -> str:
    return "no number" if loss is None else f"{loss:.4g}"
