"""The verdict over measured metrics. Nothing here raises, and nothing unknown passes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from burnin.hardware_tests.metrics import BaseMetrics, Better, Reading, fabric_words, shown
from burnin.hardware_tests.thresholds.schema import Bound, Standing, ThresholdSet

LONGEST_PLACE = 200  # characters of a detail that go into the verdict's text


class EvaluationStatus(StrEnum):
    """FAILED: measured, and bad. ERRORED: not measured. Never count one as the other."""

    PASSED = "passed"
    FAILED = "failed"
    ERRORED = "errored"


@dataclass(frozen=True)
class TestMetricEvaluation:
    """One gate that was asked. Only `metric_pass` and `metric_fail` make one."""

    __test__ = False

    reading: Reading
    bound: Bound
    passed: bool
    text: str

    @property
    def metric(self) -> str:
        return self.reading.metric


@dataclass(frozen=True)
class EvaluationResult:
    """The verdict, one concise reason, and every gate that was asked."""

    status: EvaluationStatus
    reason: str
    entries: tuple[TestMetricEvaluation, ...] = ()

    def __post_init__(self) -> None:
        if self.status is EvaluationStatus.PASSED and not self._all_hold():
            raise ValueError("a result may pass only when it has gates and all of them hold")

    def _all_hold(self) -> bool:
        return bool(self.entries) and all(each.passed is True for each in self.entries)

    @property
    def passed(self) -> bool:
        return self.status is EvaluationStatus.PASSED


class TestFailedEvaluationError(Exception):
    """A test did not pass. `result` says why; trying again changes nothing."""

    __test__ = False

    def __init__(self, result: EvaluationResult) -> None:
        super().__init__(result.reason)
        self.result = result


class NotMeasured(Exception):
    """There is no trustworthy answer, so the verdict is errored; the message is its reason."""


@dataclass(frozen=True)
class MetricSummary:
    """One metric over all iterations, in its unit. `spread` is highest minus lowest."""

    worst: float
    median: float
    spread: float


@dataclass(frozen=True)
class IterationSummary:
    """How the iterations went. All must pass: best-of-three would hide flapping."""

    passed: int
    failed: int
    errored: int
    metrics: Mapping[str, MetricSummary]

    @property
    def total(self) -> int:
        return self.passed + self.failed + self.errored


def errored(reason: str) -> EvaluationResult:
    """Return the verdict of a run that could not be measured or judged."""
    return EvaluationResult(EvaluationStatus.ERRORED, reason)


def metric_pass(reading: Reading, bound: Bound) -> TestMetricEvaluation:
    """Return a gate that holds. Raises NotMeasured if there is no number that could hold."""
    _number(reading.metric, reading.value)
    return TestMetricEvaluation(reading, bound, passed=True, text=_text(reading, bound))


def metric_fail(reading: Reading, bound: Bound) -> TestMetricEvaluation:
    """Return a gate that does not hold."""
    return TestMetricEvaluation(reading, bound, passed=False, text=_text(reading, bound))


def gate(reading: Reading, bound: Bound) -> TestMetricEvaluation:
    """Ask one gate whether the value is good. Raises NotMeasured if there is no number to ask."""
    value = _number(reading.metric, reading.value)
    limit = _number(f"the threshold of {bound.metric}", bound.value)
    good = {
        Better.HIGHER: value >= limit,
        Better.LOWER: value <= limit,
        Better.EXACT: value == limit,
    }[bound.better]
    return metric_pass(reading, bound) if good else metric_fail(reading, bound)


def conclude(entries: list[TestMetricEvaluation]) -> EvaluationResult:
    """Return the verdict that the gates add up to; without one it is errored."""
    if not entries:
        return errored("no calibrated threshold: no gate decides this result")
    failures = [each for each in entries if not each.passed]
    if failures:
        reason = "; ".join(each.text for each in failures)
        return EvaluationResult(EvaluationStatus.FAILED, reason, tuple(entries))
    reason = "; ".join(each.text for each in entries)
    return EvaluationResult(EvaluationStatus.PASSED, reason, tuple(entries))


def evaluate_metrics(metrics: BaseMetrics, thresholds: ThresholdSet) -> EvaluationResult:
    """Gate every bound on the metric of the same name. Raises NotMeasured; `evaluate` catches.

    Wrong data is a finding whether or not anyone has calibrated the bandwidth: a gate that does
    not hold fails the run beside limits that are not calibrated. They only keep it from passing.
    """
    _refuse_missing_bounds(metrics, thresholds)
    entries, doubts = [], []
    for reading, bound in _asked_for(metrics, thresholds):
        _number(reading.metric, reading.value)
        if doubt := _why_uncalibrated(metrics, reading, bound):
            doubts.append(doubt)
        elif bound.standing is Standing.GATES:
            entries.append(gate(reading, bound))
    if doubts and all(each.passed for each in entries):
        raise NotMeasured(doubts[0])
    return conclude(entries)


def refuse_untrustworthy(metrics: BaseMetrics, thresholds: ThresholdSet) -> None:
    """Raise NotMeasured unless each limit is there, calibrated, and met by a number.

    No policy may pass a result that this refuses.
    """
    _refuse_missing_bounds(metrics, thresholds)
    for reading, bound in _asked_for(metrics, thresholds):
        if doubt := _why_uncalibrated(metrics, reading, bound):
            raise NotMeasured(doubt)
        _number(reading.metric, reading.value)


def bound_for(metrics: BaseMetrics, bound: Bound) -> Bound:
    """Return that limit of several fabrics which is of the result's, else the bound as it is."""
    fitting = (each for each in bound.by_fabric if not _why_of_another(metrics, each))
    return next(fitting, bound)


def _asked_for(metrics: BaseMetrics, thresholds: ThresholdSet) -> Iterator[tuple[Reading, Bound]]:
    for name, bound in thresholds.bounds.items():
        if not _was_not_asked_for(metrics, name):
            yield metrics.reading(name), bound_for(metrics, bound)


def _refuse_missing_bounds(metrics: BaseMetrics, thresholds: ThresholdSet) -> None:
    for name, declared in metrics.declarations().items():
        bound = thresholds.bounds.get(name)
        if bound is None and declared.better and not declared.gate_reason:
            raise NotMeasured(f"no calibrated threshold for {name} in {thresholds.version}")
        if bound is not None and bound.better is not declared.better:
            raise NotMeasured(f"the threshold of {name} asks for another direction than the metric")
        if bound is not None and bound.unit is not declared.unit:
            raise NotMeasured(f"the threshold of {name} is in another unit than the metric")
    for name, bound in thresholds.bounds.items():
        if bound.metric != name:
            raise NotMeasured(f"the threshold under {name} is that of {bound.metric}")


def _was_not_asked_for(metrics: BaseMetrics, name: str) -> bool:
    if not type(metrics).is_opt_in(name):
        return False
    return getattr(metrics, name) is None


def _why_uncalibrated(metrics: BaseMetrics, reading: Reading, bound: Bound) -> str:
    """Say why the bound does not hold for this result; "" if it does."""
    if bound.standing is Standing.UNCALIBRATED:
        of = f"; this result is {_of(metrics)}" if bound.by_fabric else ""
        return f"no calibrated threshold for {reading.metric}: {bound.why}{of}"
    if bound.standing not in (Standing.GATES, Standing.NOT_GATED):
        raise NotMeasured(f"the threshold of {reading.metric} has no standing")
    why = _why_of_another(metrics, bound)
    return f"the threshold of {reading.metric} {why}: uncalibrated" if why else ""


def _why_of_another(metrics: BaseMetrics, bound: Bound) -> str:
    """Say of what else the bound is than of this result; "" if of nothing else."""
    if bound.fingerprint is not None and bound.fingerprint != metrics.fingerprint:
        return f"was calibrated for {bound.fingerprint}, this result is {metrics.fingerprint}"
    if bound.num_nodes is not None and bound.num_nodes != metrics.num_nodes:
        return f"is that of {bound.num_nodes} nodes, this result is of {metrics.num_nodes}"
    known = metrics.fabric
    if any(known.get(name) != fact for name, fact in bound.fabric.items()):
        return f"is of {fabric_words(bound.fabric)}, this result is {_of(metrics)}"
    return ""


def _of(metrics: BaseMetrics) -> str:
    fabric = fabric_words(metrics.fabric) or "a network that nothing is known of"
    return f"of {metrics.num_nodes} nodes, {fabric}"


def _number(what: str, value: object) -> float:
    # bool is an int to Python and would pass a gate of 1.
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise NotMeasured(f"{what} is {value!r:.40}, which is no number")
    if not math.isfinite(value):
        raise NotMeasured(f"{what} is {value}, which is no measurement")
    return float(value)


_NEEDS = {
    Better.HIGHER: "needs at least",
    Better.LOWER: "allows at most",
    Better.EXACT: "must be exactly",
}


def _text(reading: Reading, bound: Bound) -> str:
    value, limit = shown(reading.value), shown(bound.value)
    if value == limit and reading.value != bound.value:
        value = repr(reading.value)
    unit = f" {reading.unit}" if reading.unit else ""
    place = f" ({_place(reading.detail)})" if reading.detail else ""
    return f"{reading.label} {value}{unit}, {_NEEDS[bound.better]} {limit}{place}"


def _place(detail: str) -> str:
    line = " ".join(detail.split())
    return line if len(line) <= LONGEST_PLACE else line[:LONGEST_PLACE] + "…"


def conclude_iterations(
    last: EvaluationResult, summary: IterationSummary | None
) -> EvaluationResult:
    """Return the verdict over all iterations: a flapping fault is a fault."""
    if summary is None or not last.passed:
        return last
    if summary.total < 1 or summary.passed == summary.total:
        return last if summary.total else errored("no iteration ran")
    status = EvaluationStatus.FAILED if summary.failed else EvaluationStatus.ERRORED
    return EvaluationResult(
        status, f"{summary.passed} of {summary.total} iterations passed", last.entries
    )
