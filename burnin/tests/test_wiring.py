"""Hub and node agree on every test: class, executor, params, canned artifacts, verdict."""

import json
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress

import pytest

from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.evaluation import EvaluationStatus
from burnin.hardware_tests.metrics import BaseMetrics
from burnin.hardware_tests.registry import get_test_class, list_all_tests
from burnin.hardware_tests.thresholds.schema import Standing
from burnin.runner_bundle import build_runner
from burnin.tests.hardware_tests.purity import pure
from burnin.tests.hardware_tests.single_node.attempts import (
    CANNED,
    canned_attempt,
    most_calibrated,
    recorded,
    uncalibrated,
    what_is_calibrated,
)
from burnin.tests.hardware_tests.toy import Toy
from runner.contract.slugs import all_slugs
from runner.contract.wire import Outcome

VERDICTS = {"pass": EvaluationStatus.PASSED, "fault": EvaluationStatus.FAILED}
EVERY_TEST = pytest.mark.parametrize("test", list_all_tests(), ids=lambda test: test.slug)


@pytest.fixture(scope="module")
def executors(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, frozenset[str]]:
    """The params that each executor reads, as the bundle itself says."""
    bundle = build_runner(tmp_path_factory.mktemp("bundle"))
    listed = subprocess.run(
        [sys.executable, "-I", "-S", str(bundle.path), "list", "--json"],
        capture_output=True,
        timeout=30,
        check=True,
    )
    return {row["slug"]: frozenset(row["reads"]) for row in json.loads(listed.stdout)}


def disagreement(test: type[BaseTest], executors: Mapping[str, frozenset[str]]) -> str:
    """Say how definition and executor differ, or nothing."""
    if test.slug not in executors:
        return f"{test.slug} has no executor: add one to EXECUTORS in runner/registry.py"
    wanted, read = frozenset(test.params_class.model_fields), executors[test.slug]
    if wanted != read:
        return f"the params of {test.slug} are {sorted(wanted)}, its executor reads {sorted(read)}"
    return ""


def test_each_slug_of_the_contract_has_a_class_and_an_executor(
    executors: Mapping[str, frozenset[str]],
) -> None:
    assert set(all_slugs()) == {test.slug for test in list_all_tests()} == set(executors)


@EVERY_TEST
def test_the_executor_reads_exactly_the_params_there_are(
    test: type[BaseTest], executors: Mapping[str, frozenset[str]]
) -> None:
    assert disagreement(test, executors) == ""


def test_a_test_without_executor_is_found() -> None:
    assert disagreement(Toy, {}) == (
        "single-node.toy has no executor: add one to EXECUTORS in runner/registry.py"
    )


def test_an_executor_that_reads_other_params_is_found() -> None:
    assert disagreement(Toy, {Toy.slug: frozenset({"drives"})}) == (
        "the params of single-node.toy are ['drives', 'duration_s'], its executor reads ['drives']"
    )


@pytest.mark.parametrize(
    ("slug", "name", "status"),
    [
        (slug, name, status)
        for slug in all_slugs()
        for outcome, status in VERDICTS.items()
        for name in recorded(slug, outcome)
    ],
)
def test_canned_artifacts_give_their_verdict(
    slug: str, name: str, status: EvaluationStatus
) -> None:
    test = get_test_class(slug)
    with canned_attempt(slug, name) as collector:
        assert collector.metadata.slug == slug
        metrics = test().measure(collector)

    limits = most_calibrated(test, metrics, name)
    result = test.evaluate(metrics, what_is_calibrated(metrics, limits))

    assert result.status is status, result.reason


@EVERY_TEST
def test_a_limit_that_nobody_has_stated_yet_makes_the_pass_errored(test: type[BaseTest]) -> None:
    with canned_attempt(test.slug, "pass") as collector:
        metrics = test().measure(collector)

    for resource_class in test.resource_classes():
        limits = test.load_thresholds(resource_class)
        if missing := uncalibrated(metrics, limits):
            result = test.evaluate(metrics, limits)
            assert not result.passed
            # The recorded node may lack what another class has: then it fails by that.
            is_errored = result.status is EvaluationStatus.ERRORED
            if is_errored and limits.bounds[missing[0]].standing is Standing.UNCALIBRATED:
                assert result.reason.startswith(f"no calibrated threshold for {missing[0]}: ")


@EVERY_TEST
def test_every_canned_attempt_is_read_without_reaching_out(test: type[BaseTest]) -> None:
    for each in sorted((CANNED / test.slug).iterdir()):
        with (
            canned_attempt(test.slug, each.name) as collector,
            # What is no measurement may be refused. `Impure` is no Exception.
            suppress(Exception),
            pure(),
        ):
            test().measure(collector)


@pytest.mark.parametrize(
    ("slug", "name"), [(slug, name) for slug in all_slugs() for name in recorded(slug, "error")]
)
def test_a_canned_error_is_no_measurement(slug: str, name: str) -> None:
    with canned_attempt(slug, name) as collector:
        said = collector.metadata
        if said.outcome != Outcome.RAN:
            assert said.reason
            return
        with pytest.raises(Exception) as refused, pure():
            get_test_class(slug)().measure(collector)

    assert str(refused.value)


@EVERY_TEST
def test_no_number_of_a_pass_may_become_nan(test: type[BaseTest]) -> None:
    with canned_attempt(test.slug, "pass") as collector:
        metrics = test().measure(collector)
    limits = what_is_calibrated(metrics, most_calibrated(test, metrics))

    for name in limits.bounds:
        if getattr(metrics, name) is not None:
            assert test.evaluate(with_nan(metrics, name), limits).status is EvaluationStatus.ERRORED


def with_nan(metrics: BaseMetrics, name: str) -> BaseMetrics:
    return metrics.model_copy(update={name: float("nan")})
