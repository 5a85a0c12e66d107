"""The verdict: what holds, what does not, and what was not measured."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from burnin.hardware_tests.evaluation import (
    EvaluationResult,
    EvaluationStatus,
    IterationSummary,
    NotMeasured,
    TestFailedEvaluationError,
    conclude,
    gate,
    metric_fail,
    metric_pass,
)
from burnin.hardware_tests.metrics import BaseMetrics, Better, MetricUnit
from burnin.hardware_tests.thresholds.schema import ThresholdSet
from burnin.tests.hardware_tests.toy import (
    Toy,
    ToyMetrics,
    bound,
    not_gated,
    toy_limits,
    toy_metrics,
    uncalibrated,
)

PASSED, FAILED, ERRORED = EvaluationStatus


def test_every_gate_that_holds_is_a_pass() -> None:
    result = Toy.evaluate(toy_metrics(), toy_limits())

    assert result.passed
    assert [each.metric for each in result.entries] == [
        "read_bandwidth",
        "read_latency",
        "responded",
    ]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"read_bandwidth": 4.1, "details": {"read_bandwidth": "nvme1n1"}},
            "Slowest drive, read 4.1 GB/s, needs at least 6 (nvme1n1)",
        ),
        ({"read_latency": 200.5}, "Worst drive 200.5 µs, allows at most 200"),
        ({"responded": 2}, "Drives that answered 2, must be exactly 1"),
        ({"responded": 0}, "Drives that answered 0, must be exactly 1"),
    ],
)
def test_a_gate_that_does_not_hold_fails_and_names_value_unit_limit_and_place(
    changes: dict[str, Any], reason: str
) -> None:
    result = Toy.evaluate(toy_metrics(**changes), toy_limits())

    assert (result.status, result.reason) == (FAILED, reason)


def test_a_value_just_below_its_limit_is_not_shown_as_the_limit() -> None:
    result = Toy.evaluate(toy_metrics(read_bandwidth=5.99999), toy_limits())

    assert result.reason == "Slowest drive, read 5.99999 GB/s, needs at least 6"


def test_the_limit_itself_is_good() -> None:
    assert Toy.evaluate(toy_metrics(read_bandwidth=6.0, read_latency=200.0), toy_limits()).passed


def test_a_long_detail_is_cut_in_the_verdict() -> None:
    metrics = toy_metrics(responded=0, details={"responded": "line one\nline two " + "x" * 900})

    result = Toy.evaluate(metrics, toy_limits())

    assert "(line one line two xxx" in result.reason
    assert len(result.reason) < 300


def test_a_missing_threshold_is_an_error() -> None:
    limits = toy_limits()
    without = {name: each for name, each in limits.bounds.items() if name != "read_latency"}

    result = Toy.evaluate(toy_metrics(), replace(limits, bounds=without))

    assert (result.status, result.reason) == (
        ERRORED,
        "no calibrated threshold for read_latency in test",
    )


def test_an_uncalibrated_threshold_is_an_error() -> None:
    limits = toy_limits(
        read_latency=uncalibrated("read_latency", Better.LOWER, MetricUnit.MICROSECONDS)
    )

    result = Toy.evaluate(toy_metrics(), limits)

    assert (result.status, result.reason) == (
        ERRORED,
        "no calibrated threshold for read_latency: no data",
    )


def test_without_a_gate_that_decides_nothing_passes() -> None:
    limits = toy_limits(
        read_bandwidth=not_gated("read_bandwidth", Better.HIGHER, MetricUnit.GB_S),
        read_latency=not_gated("read_latency", Better.LOWER, MetricUnit.MICROSECONDS),
        responded=not_gated("responded", Better.EXACT, MetricUnit.COUNT),
    )

    result = Toy.evaluate(toy_metrics(), limits)

    assert (result.status, result.reason) == (
        ERRORED,
        "no calibrated threshold: no gate decides this result",
    )


def test_what_was_not_asked_for_decides_nothing_and_what_was_does() -> None:
    gated = toy_limits(disk_space=bound("disk_space", 5.0, Better.HIGHER, MetricUnit.PERCENT))

    assert Toy.evaluate(toy_metrics(disk_space=None), gated).passed
    assert Toy.evaluate(toy_metrics(disk_space=80.0), gated).passed
    assert Toy.evaluate(toy_metrics(disk_space=3.0), gated).status is FAILED


@pytest.mark.parametrize("stamp", [None, "other"])
def test_a_calibrated_limit_holds_only_for_its_fingerprint(stamp: str | None) -> None:
    limits = toy_limits(
        read_bandwidth=bound(
            "read_bandwidth", 6.0, Better.HIGHER, MetricUnit.GB_S, fingerprint="abc"
        )
    )

    assert Toy.evaluate(toy_metrics(fingerprint="abc"), limits).passed
    other = Toy.evaluate(toy_metrics(fingerprint=stamp), limits)
    assert other.status is ERRORED
    assert other.reason.endswith(f"calibrated for abc, this result is {stamp}: uncalibrated")


@pytest.mark.parametrize("count", [None, 1, 3, 8])
def test_a_limit_of_some_nodes_holds_for_no_other_number(count: int | None) -> None:
    of_two = replace(toy_limits().bounds["read_bandwidth"], num_nodes=2)
    limits = toy_limits(read_bandwidth=of_two)

    assert Toy.evaluate(toy_metrics(num_nodes=2), limits).passed
    other = Toy.evaluate(toy_metrics(num_nodes=count), limits)
    assert other.status is ERRORED
    assert other.reason == (
        f"the threshold of read_bandwidth is that of 2 nodes, this result is of {count}: "
        "uncalibrated"
    )


def test_a_gate_that_does_not_hold_fails_beside_an_uncalibrated_limit() -> None:
    limits = toy_limits(
        read_latency=uncalibrated("read_latency", Better.LOWER, MetricUnit.MICROSECONDS)
    )

    result = Toy.evaluate(toy_metrics(responded=0), limits)

    assert (result.status, result.reason) == (
        FAILED,
        "Drives that answered 0, must be exactly 1",
    )
    assert [each.metric for each in result.entries] == ["read_bandwidth", "responded"]


def test_what_is_no_number_is_an_error_beside_a_gate_that_does_not_hold() -> None:
    unmeasured = {**toy_metrics().model_dump(), "read_latency": math.nan, "responded": 0}

    result = Toy.evaluate(ToyMetrics.model_construct(None, **unmeasured), toy_limits())

    assert result.status is ERRORED


def test_a_threshold_of_another_direction_is_an_error() -> None:
    limits = toy_limits(read_bandwidth=bound("read_bandwidth", 6.0, Better.LOWER, MetricUnit.GB_S))

    assert Toy.evaluate(toy_metrics(read_bandwidth=1.0), limits).status is ERRORED


def test_thresholds_or_metrics_of_another_test_are_an_error() -> None:
    foreign = replace(toy_limits(), slug="single-node.other")

    assert Toy.evaluate(toy_metrics(), foreign).status is ERRORED
    assert Toy.evaluate(BaseMetrics(), toy_limits()).status is ERRORED


def test_malformed_resolved_params_do_not_pass() -> None:
    result = Toy.evaluate(toy_metrics(), toy_limits(), None, {"duration_s": "x"})

    assert result.status is ERRORED
    assert "'duration_s' is 'x'" in result.reason


def test_an_override_cannot_raise() -> None:
    class Careless(Toy):
        slug = "single-node.careless"

        @classmethod
        def evaluate(cls, *_: Any) -> EvaluationResult:
            raise ZeroDivisionError("of course")

    result = Careless.evaluate(toy_metrics(), toy_limits())

    assert (result.status, result.reason) == (
        ERRORED,
        "a defect in single-node.careless.evaluate: ZeroDivisionError: of course",
    )


def test_an_override_that_gives_no_result_is_an_error() -> None:
    class Forgetful(Toy):
        slug = "single-node.forgetful"

        @classmethod
        def evaluate(cls, *_: Any) -> EvaluationResult:
            return None  # type: ignore[return-value]

    assert Forgetful.evaluate(toy_metrics(), toy_limits()).status is ERRORED


def test_an_override_cannot_pass_what_is_not_calibrated_or_not_measured() -> None:
    class Lenient(Toy):
        slug = "single-node.lenient"

        @classmethod
        def evaluate(cls, metrics: BaseMetrics, *_: Any) -> EvaluationResult:
            limit = toy_limits().bounds["responded"]
            return conclude([metric_pass(toy_metrics().reading("responded"), limit)])

    limits = replace(toy_limits(), slug="single-node.lenient")
    no_data = uncalibrated("responded", Better.EXACT, MetricUnit.COUNT)
    unmeasured = ToyMetrics.model_construct(
        None, **{**toy_metrics().model_dump(), "read_latency": math.nan}
    )

    assert Lenient.evaluate(toy_metrics(), limits).passed
    assert (
        Lenient.evaluate(unmeasured, limits).reason
        == "read_latency is nan, which is no measurement"
    )
    assert Lenient.evaluate(toy_metrics(), toy_limits(responded=no_data)).status is ERRORED
    assert Lenient.evaluate(toy_metrics(), limits, summary(passed=1, failed=1)).status is FAILED


def test_an_override_can_refuse_by_saying_what_was_not_measured() -> None:
    class Strict(Toy):
        slug = "single-node.strict"

        @classmethod
        def evaluate(
            cls,
            metrics: BaseMetrics,
            thresholds: ThresholdSet,
            iteration_summary: IterationSummary | None = None,
            resolved_params: Mapping[str, Any] | None = None,
        ) -> EvaluationResult:
            raise NotMeasured("the policy needs two runs")

    assert Strict.evaluate(toy_metrics(), toy_limits()).reason == "the policy needs two runs"


def test_a_pass_without_gates_cannot_be_made() -> None:
    reading, limit = toy_metrics().reading("responded"), toy_limits().bounds["responded"]

    with pytest.raises(ValueError, match="only when it has gates and all of them hold"):
        EvaluationResult(PASSED, "trust me")
    with pytest.raises(ValueError, match="only when it has gates and all of them hold"):
        EvaluationResult(PASSED, "trust me", (metric_fail(reading, limit),))


def test_entries_are_made_by_pass_and_fail_and_add_up() -> None:
    reading, limit = toy_metrics().reading("responded"), toy_limits().bounds["responded"]
    good, bad = metric_pass(reading, limit), metric_fail(reading, limit)

    assert conclude([good]).passed
    assert conclude([good, bad]).status is FAILED
    assert conclude([]).status is ERRORED
    assert gate(reading, limit) == good


def summary(*, passed: int, failed: int = 0, errored: int = 0) -> IterationSummary:
    return IterationSummary(passed=passed, failed=failed, errored=errored, metrics={})


@pytest.mark.parametrize(
    ("iterations", "status", "reason"),
    [
        (summary(passed=2, failed=1), FAILED, "2 of 3 iterations passed"),
        (summary(passed=2, errored=1), ERRORED, "2 of 3 iterations passed"),
        (summary(passed=1, failed=1, errored=1), FAILED, "1 of 3 iterations passed"),
        (summary(passed=0), ERRORED, "no iteration ran"),
    ],
)
def test_all_iterations_must_pass(
    iterations: IterationSummary, status: EvaluationStatus, reason: str
) -> None:
    result = Toy.evaluate(toy_metrics(), toy_limits(), iterations)

    assert (result.status, result.reason) == (status, reason)


def test_iterations_that_all_passed_change_nothing() -> None:
    assert Toy.evaluate(toy_metrics(), toy_limits(), summary(passed=3)).passed


def test_a_failure_can_be_raised_with_its_result() -> None:
    result = Toy.evaluate(toy_metrics(responded=0), toy_limits())

    error = TestFailedEvaluationError(result)

    assert str(error) == result.reason
    assert error.result is result
