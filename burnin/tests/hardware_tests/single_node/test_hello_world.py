"""One node answers, or it does not."""

import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from burnin.hardware_tests.artifacts import MissingArtifact
from burnin.hardware_tests.evaluation import EvaluationStatus
from burnin.hardware_tests.single_node.hello_world import HelloWorld, HelloWorldMetrics
from burnin.tests.hardware_tests.single_node.attempts import judged, made_up_attempt
from runner.contract.slugs import Slugs

HELLO = {"node_name": "n1", "hostname": "host1", "kernel": "6.1.0", "python": "3.11.2"}


def metrics_of(directory: Path, **changes: str) -> HelloWorldMetrics:
    text = json.dumps({**HELLO, **changes})
    return HelloWorld().extract_metrics(made_up_attempt(directory, {"hello.json": text}, params={}))


def test_a_node_that_answers_passes(tmp_path: Path) -> None:
    metrics = metrics_of(tmp_path)

    result = judged(Slugs.HELLO_WORLD, metrics)

    assert result.passed
    assert result.reason == "Nodes that answered 1, must be exactly 1 (n1: host1, Linux 6.1.0)"


def test_an_answer_from_another_node_fails(tmp_path: Path) -> None:
    metrics = metrics_of(tmp_path, node_name="n2")

    result = judged(Slugs.HELLO_WORLD, metrics)

    assert result.status is EvaluationStatus.FAILED
    assert result.reason == "Nodes that answered 0, must be exactly 1 (n2: host1, Linux 6.1.0)"


def test_no_answer_is_not_a_measurement(tmp_path: Path) -> None:
    with pytest.raises(MissingArtifact, match=r"left no hello\.json"):
        HelloWorld().extract_metrics(made_up_attempt(tmp_path, {}, params={}))


@pytest.mark.parametrize("text", ["", "{", "[]", '{"node_name": "n1"}'])
def test_a_torn_answer_is_not_a_measurement(tmp_path: Path, text: str) -> None:
    with pytest.raises(ValidationError):
        HelloWorld().extract_metrics(made_up_attempt(tmp_path, {"hello.json": text}, params={}))
