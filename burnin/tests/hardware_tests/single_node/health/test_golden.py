"""Components whose words an operator knows: what differs is a fault of the node."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.params import BadParams, parse_params
from burnin.hardware_tests.resource_classes import hardware_of
from burnin.hardware_tests.single_node.health.metrics import NodeHealthMetrics
from burnin.hardware_tests.single_node.health.params import NodeHealthParams
from burnin.hardware_tests.single_node.health.section import told
from burnin.hardware_tests.single_node.node_health import NodeHealthCheckTest
from burnin.tests.hardware_tests.single_node.attempts import judged, made_up_attempt

H100 = "h100-sxm5-8x"
FOUND: dict[str, Any] = {
    "kernel": {"text": "6.1.0-13-amd64\n"},
    "iommu": {"groups": 0, "arguments": []},
}
CHECKS = ("kernel_versions", "iommu_groups")


def extracted(directory: Path, golden: Any, **changes: Any) -> NodeHealthMetrics:
    report = json.dumps({**FOUND, **changes})
    params = {"checks": CHECKS, "golden": golden}
    attempt = made_up_attempt(directory, {"node-health.json": report}, params=params)
    return NodeHealthCheckTest().extract_metrics(attempt)


def test_what_is_golden_passes_and_what_is_not_is_named(tmp_path: Path) -> None:
    good = extracted(tmp_path, {H100: {"kernel_versions": "6.1.0-13-amd64"}})
    bad = extracted(
        tmp_path, {H100: {"kernel_versions": "6.8.0-40-generic", "iommu_groups": "0 groups"}}
    )

    assert judged(NodeHealthCheckTest.slug, good, H100).passed
    result = judged(NodeHealthCheckTest.slug, bad, H100)
    assert result.status is EvaluationStatus.FAILED
    assert result.reason == (
        "Components unlike the golden ones 1, allows at most 0 "
        "(kernel_versions: 6.1.0-13-amd64, expected 6.8.0-40-generic)"
    )


def test_a_golden_component_that_cannot_be_read_is_errored_and_not_equal(tmp_path: Path) -> None:
    golden = {H100: {"kernel_versions": "6.1.0-13-amd64"}}

    metrics = extracted(tmp_path, golden, kernel={"error": "Permission denied"})

    assert metrics.unexpected_components is None
    result = judged(NodeHealthCheckTest.slug, metrics, H100)
    assert result.status is EvaluationStatus.ERRORED
    assert "kernel_versions could not be read: Permission denied" in result.reason


def test_without_golden_words_nothing_is_compared(tmp_path: Path) -> None:
    assert extracted(tmp_path, {}).unexpected_components is None


def test_golden_words_of_several_classes_fit_no_node(tmp_path: Path) -> None:
    words = {"kernel_versions": "6.1.0-13-amd64"}

    with pytest.raises(NotMeasured, match="golden is of several classes: a, b"):
        extracted(tmp_path, {"a": words, "b": words})


def test_a_class_is_given_its_own_golden_words() -> None:
    words = {"kernel_versions": "6.1.0"}
    asked = NodeHealthParams(checks=CHECKS, golden={H100: words, "h200-8x": words})

    of_h100 = NodeHealthCheckTest.params_on(asked, hardware_of(H100))
    of_another = NodeHealthCheckTest.params_on(asked, hardware_of("b200-8x"))

    assert of_h100 == NodeHealthParams(checks=CHECKS, golden={H100: words})
    assert of_another == NodeHealthParams(checks=CHECKS)


@pytest.mark.parametrize(
    ("golden", "words"),
    [
        ({H100: {"bios_versions": "2.5"}}, "names bios_versions: add it to the checks"),
        ({H100: {"memory_size": "64"}}, "golden.h100-sxm5-8x.memory_size"),
        ({H100: {"kernel_versions": 6}}, "golden.h100-sxm5-8x.kernel_versions"),
    ],
)
def test_golden_words_that_nothing_would_be_held_against_are_refused(
    golden: Any, words: str
) -> None:
    with pytest.raises(BadParams, match=words):
        parse_params(NodeHealthCheckTest, {"checks": CHECKS, "golden": golden})


def test_a_long_list_differs_in_its_first_words_wherever_it_differs() -> None:
    many = [f"model {at}: 1.0" for at in range(100)]

    assert told([*many, "z: 1"])[1][:30] != told([*many, "z: 2"])[1][:30]
    assert told(["b", "a"]) == (2, "a; b")
