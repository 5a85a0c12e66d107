"""Whatever comes, `evaluate` does not raise, and what is not a good number does not pass."""

import math
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from burnin.hardware_tests.evaluation import EvaluationResult, EvaluationStatus
from burnin.hardware_tests.metrics import Better, MetricUnit
from burnin.hardware_tests.thresholds.schema import Bound, Standing, ThresholdSet
from burnin.tests.hardware_tests.toy import Toy, ToyMetrics, bound, toy_limits, toy_metrics

GATED = ("read_bandwidth", "read_latency", "responded")

not_numbers = st.one_of(
    st.sampled_from([math.nan, math.inf, -math.inf]),
    st.none(),
    st.booleans(),
    st.text(),
    st.binary(),
    st.complex_numbers(),
    st.lists(st.floats()),
    st.dictionaries(st.text(), st.integers()),
    st.builds(object),
)
anything = st.one_of(not_numbers, st.floats(), st.integers())


def raw_metrics(**fields: Any) -> ToyMetrics:
    """Metrics as no validation has seen them."""
    return ToyMetrics.model_construct(None, **{**toy_metrics().model_dump(), **fields})


@given(name=st.sampled_from(GATED), value=not_numbers)
def test_what_is_no_number_is_errored(name: str, value: object) -> None:
    result = Toy.evaluate(raw_metrics(**{name: value}), toy_limits())

    assert result.status is EvaluationStatus.ERRORED


@given(missing=st.sets(st.sampled_from(GATED), min_size=1))
def test_a_missing_field_is_errored(missing: set[str]) -> None:
    present = {k: v for k, v in toy_metrics().model_dump().items() if k not in missing}
    metrics = ToyMetrics.model_construct(None, **present)

    assert Toy.evaluate(metrics, toy_limits()).status is EvaluationStatus.ERRORED


@given(name=st.sampled_from(GATED), value=not_numbers)
def test_a_limit_that_is_no_number_is_errored(name: str, value: object) -> None:
    good = toy_limits().bounds[name]
    limits = toy_limits(**{name: bound(name, value, good.better, good.unit)})

    assert Toy.evaluate(toy_metrics(), limits).status is EvaluationStatus.ERRORED


@given(stamp=st.one_of(st.none(), st.text()).filter(lambda text: text != "right"))
def test_another_fingerprint_is_errored(stamp: str | None) -> None:
    calibrated = bound("responded", 1.0, Better.EXACT, MetricUnit.COUNT, fingerprint="right")

    result = Toy.evaluate(toy_metrics(fingerprint=stamp), toy_limits(responded=calibrated))

    assert result.status is EvaluationStatus.ERRORED


@given(values=st.dictionaries(st.sampled_from([*GATED, "disk_space", "details"]), anything))
def test_only_good_numbers_pass(values: dict[str, Any]) -> None:
    result = Toy.evaluate(raw_metrics(**values), toy_limits())

    if result.passed:
        metrics = raw_metrics(**values)
        assert metrics.read_bandwidth >= 6
        assert metrics.read_latency <= 200
        assert metrics.responded == 1


@given(
    bandwidth=st.floats(allow_nan=False, allow_infinity=False),
    latency=st.floats(allow_nan=False, allow_infinity=False),
    responded=st.integers(),
)
def test_measured_numbers_pass_exactly_when_they_are_good(
    bandwidth: float, latency: float, responded: int
) -> None:
    metrics = raw_metrics(read_bandwidth=bandwidth, read_latency=latency, responded=responded)

    result = Toy.evaluate(metrics, toy_limits())

    good = bandwidth >= 6 and latency <= 200 and responded == 1
    measurable = abs(responded) < 1 << 1023
    wanted = EvaluationStatus.PASSED if good else EvaluationStatus.FAILED
    assert result.status is (wanted if measurable else EvaluationStatus.ERRORED)


garbage_bounds = st.builds(
    Bound,
    metric=st.one_of(st.sampled_from(GATED), anything),
    value=anything,
    better=st.one_of(st.sampled_from(Better), anything),
    unit=st.one_of(st.sampled_from(MetricUnit), anything),
    version=anything,
    standing=st.one_of(st.sampled_from(Standing), anything),
    fingerprint=st.one_of(st.none(), anything),
    why=anything,
)
garbage_limits = st.one_of(
    anything,
    st.builds(
        ThresholdSet,
        slug=st.one_of(st.just("single-node.toy"), anything),
        resource_class=anything,
        version=anything,
        bounds=st.one_of(anything, st.dictionaries(st.sampled_from(GATED), garbage_bounds)),
    ),
)


@given(metrics=anything, limits=garbage_limits, summary=anything, params=anything)
def test_garbage_never_raises_and_never_passes(
    metrics: Any, limits: Any, summary: Any, params: Any
) -> None:
    result = Toy.evaluate(metrics, limits, summary, params)

    assert isinstance(result, EvaluationResult)
    assert not result.passed


@given(limits=garbage_limits)
def test_garbage_limits_never_raise_on_good_metrics(limits: Any) -> None:
    assert isinstance(Toy.evaluate(toy_metrics(), limits), EvaluationResult)


@given(
    error=st.sampled_from([ValueError, KeyError, RecursionError, OSError, TypeError]),
    answer=anything,
    raises=st.booleans(),
)
def test_a_garbage_override_never_raises_and_never_passes(
    error: type[Exception], answer: object, raises: bool
) -> None:
    class Garbage(Toy):
        slug = "single-node.garbage"

        @classmethod
        def evaluate(cls, *_: Any) -> Any:
            if raises:
                raise error("garbage")
            return answer

    result = Garbage.evaluate(toy_metrics(), toy_limits())

    assert result.status is EvaluationStatus.ERRORED
