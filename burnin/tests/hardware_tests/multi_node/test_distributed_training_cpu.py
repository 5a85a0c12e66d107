"""What a training's report is taken for, and what is refused in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.multi_node.distributed_training_cpu import DistributedTrainingCpu
from burnin.hardware_tests.multi_node.training import TrainingMetrics
from burnin.tests.hardware_tests.single_node.attempts import judged, made_up_attempt

NODES = ["n3", "n1", "n2"]
REPORT = {
    "ranks": 3,
    "places": NODES,
    "flop": 640_000_000,
    "rounds": 5,
    "steps": 3,
    "losses": [2.0, 1.5, 1.0],
    "compute_s": [0.02, 0.03, 0.02],
    "step_s": [0.03, 0.04, 0.03],
    "p99_step_s": [0.05, 0.05, 0.05],
    "unequal": [],
    "risen": [],
    "versions": {"numpy": "1.24.2", "blas": "openblas", "mpi": "MPICH 4"},
}
THREE_ENDS = ["aa", "bb", "cc"]


def measured(tmp_path: Path, **changes: Any) -> TrainingMetrics:
    files = {"training.json": json.dumps({**REPORT, **changes})}
    attempt = made_up_attempt(tmp_path, files, params={}, node_names=sorted(NODES))
    metrics = DistributedTrainingCpu().measure(attempt)
    assert isinstance(metrics, TrainingMetrics)
    return metrics


def verdict(metrics: TrainingMetrics) -> tuple[EvaluationStatus, str]:
    result = judged(DistributedTrainingCpu.slug, metrics)
    return result.status, result.reason


def test_the_slowest_rank_sets_the_pace_and_is_named(tmp_path: Path) -> None:
    metrics = measured(tmp_path)

    assert metrics.throughput == pytest.approx(0.64 / 0.04)
    assert metrics.straggler_ratio == pytest.approx(1.5)
    assert metrics.details["straggler_ratio"].startswith("n1 30 ms, ")
    assert metrics.step_time_spread == pytest.approx(25)
    assert metrics.step_count == 15
    assert judged(DistributedTrainingCpu.slug, metrics).passed


def test_the_rank_that_ends_otherwise_is_named(tmp_path: Path) -> None:
    metrics = measured(tmp_path, unequal=[{"round": 2, "checksums": ["aa", "aa", "bb"]}])

    assert verdict(metrics) == (
        EvaluationStatus.FAILED,
        "Ranks that ended with other weights 1, allows at most 0 (n2, first in round 2)",
    )


def test_without_a_majority_no_rank_is_cleared(tmp_path: Path) -> None:
    metrics = measured(tmp_path, unequal=[{"round": 2, "checksums": THREE_ENDS}])

    assert metrics.differing_ranks == 3


@pytest.mark.parametrize(
    ("losses", "words"),
    [([2.0, 1.5, 2.0], "2 to 2"), ([2.0, None, 1.0], "2 to 1"), ([2.0, 1.0, None], "no number")],
)
def test_a_loss_that_does_not_fall_fails(
    tmp_path: Path, losses: list[float | None], words: str
) -> None:
    found = [
        verdict(measured(tmp_path, losses=losses)),
        verdict(measured(tmp_path, risen=[{"round": 1, "losses": losses}])),
    ]

    for status, reason in found:
        assert status is EvaluationStatus.FAILED
        assert reason.startswith("Rounds whose loss did not fall 1, allows at most 0 (round ")
        assert words in reason


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"places": ["n1", "n1", "n2"]}, "not one on each of n1, n2, n3"),
        ({"compute_s": [0.02, 0.03]}, "not each of 3 ranks said"),
        ({"unequal": [{"round": 1, "checksums": ["aa", "bb"]}]}, "not each of 3 ranks said"),
        ({"losses": [2.0]}, "1 losses of 3 steps"),
        ({"step_s": [0.03, 0.0, 0.03]}, "took no time"),
        ({"p99_step_s": [0.05, float("nan"), 0.05]}, "finite"),
        ({"rounds": 0}, "greater than or equal to 1"),
    ],
)
def test_a_report_of_other_work_is_no_measurement(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises((NotMeasured, ValueError), match=words):
        measured(tmp_path, **changes)


def test_what_it_was_computed_with_is_part_of_the_fingerprint(tmp_path: Path) -> None:
    other = {**REPORT["versions"], "blas": "reference"}  # type: ignore[dict-item]

    assert measured(tmp_path).fingerprint != measured(tmp_path, versions=other).fingerprint
