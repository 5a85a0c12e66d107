"""Hub and node agree on every test: class, executor, params, canned artifacts, verdict."""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from burnin.hardware_tests.artifacts import ArtifactCollector, open_artifacts, read_metadata
from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.evaluation import EvaluationStatus
from burnin.hardware_tests.metrics import BaseMetrics
from burnin.hardware_tests.registry import list_all_tests
from burnin.runner_bundle import build_runner
from burnin.tests.hardware_tests.purity import pure
from burnin.tests.hardware_tests.toy import Toy
from runner.contract.slugs import all_slugs
from runner.contract.wire import AttemptToken, Outcome

CANNED = Path(__file__).resolve().parents[2] / "fixtures" / "artifacts"
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


@contextmanager
def canned(test: type[BaseTest], outcome: str) -> Iterator[ArtifactCollector]:
    directory = CANNED / test.slug / outcome
    said = read_metadata(directory)
    with open_artifacts(directory, AttemptToken(said.run_id, said.attempt)) as collector:
        yield collector


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


@EVERY_TEST
@pytest.mark.parametrize(
    ("outcome", "status"),
    [("pass", EvaluationStatus.PASSED), ("fault", EvaluationStatus.FAILED)],
)
def test_canned_artifacts_give_their_verdict(
    test: type[BaseTest], outcome: str, status: EvaluationStatus
) -> None:
    with canned(test, outcome) as collector:
        assert collector.metadata.slug == test.slug
        with pure():
            metrics = test().measure(collector)

    result = test.evaluate(metrics, test.load_thresholds("cpu-generic"))

    assert result.status is status, result.reason


@EVERY_TEST
def test_a_canned_error_is_no_measurement(test: type[BaseTest]) -> None:
    with canned(test, "error") as collector:
        said = collector.metadata
        if said.outcome != Outcome.RAN:
            assert said.reason
            return
        with pytest.raises(Exception) as refused, pure():
            test().measure(collector)

    assert str(refused.value)


@EVERY_TEST
def test_no_number_of_a_pass_may_become_nan(test: type[BaseTest]) -> None:
    with canned(test, "pass") as collector:
        metrics = test().measure(collector)
    limits = test.load_thresholds("cpu-generic")

    for name in limits.bounds:
        if getattr(metrics, name) is not None:
            assert test.evaluate(with_nan(metrics, name), limits).status is EvaluationStatus.ERRORED


def with_nan(metrics: BaseMetrics, name: str) -> BaseMetrics:
    return metrics.model_copy(update={name: float("nan")})
