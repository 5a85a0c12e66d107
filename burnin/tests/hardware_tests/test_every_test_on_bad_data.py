"""Every registered test on bad data: nothing raises out of `evaluate`, and nothing bad passes."""

import math
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from burnin.hardware_tests.artifacts import (
    AmbiguousArtifact,
    ArtifactCollector,
    MissingArtifact,
    TestArtifactFile,
    read_metadata,
)
from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.evaluation import EvaluationResult, EvaluationStatus, NotMeasured
from burnin.hardware_tests.metrics import BaseMetrics, Better, MetricUnit
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.hardware_tests.registry import list_all_tests
from burnin.hardware_tests.thresholds.schema import Bound, Standing, ThresholdSet
from burnin.hardware_tests.unpack import unpack
from burnin.tests.hardware_tests.purity import pure
from burnin.tests.hardware_tests.single_node.attempts import (
    CANNED,
    canned_attempt,
    most_calibrated,
    what_is_calibrated,
)

EVERY_TEST = pytest.mark.parametrize("test", list_all_tests(), ids=lambda test: test.slug)
NO_NUMBERS = (math.nan, math.inf, -math.inf, None, True, "7", b"7", 1j, [1.0], {"a": 1}, object())
any_test = st.sampled_from(list_all_tests())
anything = st.one_of(
    st.none(), st.booleans(), st.text(), st.floats(), st.integers(), st.lists(st.floats())
)


@cache
def measured(test: type[BaseTest]) -> BaseMetrics:
    with canned_attempt(test.slug, "pass") as collector:
        return test().measure(collector)


@cache
def limits_of(test: type[BaseTest]) -> ThresholdSet:
    return what_is_calibrated(measured(test), most_calibrated(test, measured(test)))


def judged(test: type[BaseTest], **changes: Any) -> EvaluationResult:
    """Judge what passed, with values as no validation has seen them."""
    fields = {**vars(measured(test)), **changes}
    return test.evaluate(test.metrics_class.model_construct(None, **fields), limits_of(test))


def judged_by(test: type[BaseTest], **bounds: Bound) -> EvaluationResult:
    limits = limits_of(test)
    return test.evaluate(measured(test), replace(limits, bounds={**limits.bounds, **bounds}))


def asked_for(test: type[BaseTest]) -> list[str]:
    return [name for name in limits_of(test).bounds if getattr(measured(test), name) is not None]


def gates(test: type[BaseTest]) -> dict[str, Bound]:
    bounds = limits_of(test).bounds
    return {name: bounds[name] for name in asked_for(test) if bounds[name].value is not None}


@EVERY_TEST
def test_what_is_no_number_is_errored(test: type[BaseTest]) -> None:
    for name in asked_for(test):
        for value in NO_NUMBERS:
            if value is None and test.metrics_class.is_opt_in(name):
                continue
            assert judged(test, **{name: value}).status is EvaluationStatus.ERRORED, (name, value)


@EVERY_TEST
def test_a_missing_field_is_errored(test: type[BaseTest]) -> None:
    for name in asked_for(test):
        fields = {key: value for key, value in vars(measured(test)).items() if key != name}
        metrics = test.metrics_class.model_construct(None, **fields)

        result = test.evaluate(metrics, limits_of(test))

        assert not result.passed or test.metrics_class.is_opt_in(name)


@EVERY_TEST
def test_a_limit_in_another_unit_or_direction_is_errored(test: type[BaseTest]) -> None:
    for name, bound in limits_of(test).bounds.items():
        for unit in set(MetricUnit) - {bound.unit}:
            result = judged_by(test, **{name: replace(bound, unit=unit)})
            assert result.status is EvaluationStatus.ERRORED
            assert result.reason == f"the threshold of {name} is in another unit than the metric"
        for better in set(Better) - {bound.better}:
            result = judged_by(test, **{name: replace(bound, better=better)})
            assert result.status is EvaluationStatus.ERRORED


@EVERY_TEST
def test_a_limit_of_another_fingerprint_or_number_of_nodes_is_errored(test: type[BaseTest]) -> None:
    for name, bound in gates(test).items():
        for fingerprint in ("", "0" * 16, str(measured(test).fingerprint)[:-1]):
            result = judged_by(test, **{name: replace(bound, fingerprint=fingerprint)})
            assert result.status is EvaluationStatus.ERRORED
            assert "was calibrated for" in result.reason
        result = judged_by(test, **{name: replace(bound, num_nodes=1000)})
        assert (result.status, "is that of 1000 nodes" in result.reason) == (
            EvaluationStatus.ERRORED,
            True,
        )


@EVERY_TEST
def test_a_limit_of_its_own_fingerprint_holds(test: type[BaseTest]) -> None:
    own = measured(test).fingerprint  # None holds nowhere: a tool did not say its version
    for name, bound in gates(test).items():
        calibrated = replace(bound, fingerprint=own or "0" * 16)
        assert judged_by(test, **{name: calibrated}).passed is (own is not None)


@settings(max_examples=200)
@given(test=any_test, factor=st.sampled_from([1e-9, 1e-6, 1e-3, 1 / 8, 8, 1e3, 1e6, 1e9]))
def test_a_value_in_another_unit_passes_only_where_the_number_is_good(
    test: type[BaseTest], factor: float
) -> None:
    changed = {name: getattr(measured(test), name) * factor for name in gates(test)}

    result = judged(test, **changed)

    for name, bound in gates(test).items():
        if result.passed:
            assert is_good(bound, changed[name])


@settings(max_examples=200)
@given(test=any_test, data=st.data())
def test_whatever_stands_there_only_good_numbers_pass(
    test: type[BaseTest], data: st.DataObject
) -> None:
    names = st.sampled_from([*test.metrics_class.declarations(), "details"])
    changes = data.draw(st.dictionaries(names, anything, max_size=2))

    result = judged(test, **changes)

    assert isinstance(result, EvaluationResult)
    for name in set(gates(test)) & set(changes):
        if result.passed and not (changes[name] is None and test.metrics_class.is_opt_in(name)):
            assert is_good(gates(test)[name], changes[name])


@settings(max_examples=200)
@given(test=any_test, metrics=anything, limits=anything, summary=anything, params=anything)
def test_garbage_never_raises_and_never_passes(
    test: type[BaseTest], metrics: Any, limits: Any, summary: Any, params: Any
) -> None:
    for result in (
        test.evaluate(metrics, limits_of(test)),
        test.evaluate(measured(test), limits),
        test.evaluate(metrics, limits, summary, params),
    ):
        assert isinstance(result, EvaluationResult)
        assert not result.passed


def is_good(bound: Bound, value: Any) -> bool:
    assert bound.standing is Standing.GATES
    limit = bound.value
    assert limit is not None
    if bound.better is Better.EXACT:
        return bool(value == limit)
    return bool(value >= limit if bound.better is Better.HIGHER else value <= limit)


@pytest.fixture
def recorded(test: type[BaseTest], tmp_path: Path) -> ArtifactCollector:
    """The recorded pass, its reports lying where they may be damaged."""
    attempt = CANNED / test.slug / "pass"
    unpack(attempt / TestArtifactFile.CUSTOM, tmp_path)
    return ArtifactCollector(attempt, results=tmp_path, metadata=read_metadata(attempt))


def is_refused(collector: ArtifactCollector, test: type[BaseTest]) -> bool:
    """Any other error is a defect of the test's own code, which an operator cannot read."""
    try:
        with pure():
            test().measure(collector)
    except (ParseError, MissingArtifact, AmbiguousArtifact, NotMeasured, ValueError):
        return True
    return False


def is_harmless(collector: ArtifactCollector, test: type[BaseTest]) -> bool:
    return is_refused(collector, test) or decides_the_same(collector, test)


def decides_the_same(collector: ArtifactCollector, test: type[BaseTest]) -> bool:
    """Say whether the reports still tell what decides, as a list with samples to spare may."""
    left, whole = test().measure(collector), measured(test)
    return all(
        math.isclose(getattr(left, name), getattr(whole, name), rel_tol=0.01)
        for name in gates(test)
    )


@EVERY_TEST
def test_a_report_that_is_cut_or_gone_is_refused_or_decides_the_same(
    test: type[BaseTest], recorded: ArtifactCollector
) -> None:
    for path in recorded.get_custom_files("*"):
        whole = path.read_bytes()
        for share in (0.0, 0.2, 0.5, 0.8, 0.97):
            path.write_bytes(whole[: int(share * len(whole))])
            assert is_harmless(recorded, test), (path.name, share)
        path.unlink()
        assert is_harmless(recorded, test), path.name
        path.write_bytes(whole)

    assert test().measure(recorded) == measured(test)


@EVERY_TEST
def test_a_report_of_garbage_is_refused_or_decides_the_same(
    test: type[BaseTest], recorded: ArtifactCollector
) -> None:
    for path in recorded.get_custom_files("*"):
        whole = path.read_bytes()
        for garbage in (b"\xff\xfe\x00", b"{}", b"null", b"nan nan nan\n"):
            path.write_bytes(garbage)
            assert is_harmless(recorded, test), path.name
        path.write_bytes(whole)


@EVERY_TEST
def test_without_any_report_nothing_was_measured(
    test: type[BaseTest], recorded: ArtifactCollector
) -> None:
    for path in recorded.get_custom_files("*"):
        path.unlink()

    assert is_refused(recorded, test)
