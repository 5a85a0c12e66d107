"""What an MPI collective's report is taken for, and what is refused in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from burnin.hardware_tests.base import MultiNodeTest
from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.multi_node.mpi_collective import (
    MpiAllGather,
    MpiAllReduce,
    MpiAllToAll,
    MpiCollectiveMetrics,
)
from burnin.tests.hardware_tests.single_node.attempts import judged, made_up_attempt
from runner.contract.slugs import Slugs

SMALL = {"bytes": 8, "times_s": [1e-6, 3e-6, 2e-6], "wrong": [0, 0, 0, 0]}
LARGE = {"bytes": 1 << 30, "times_s": [1.0, 1.5, 1.25], "wrong": [0, 0, 0, 0]}
NODES = ["n3", "n1", "n2", "n4"]


def measured(
    tmp_path: Path, test: type[MultiNodeTest] = MpiAllReduce, **changes: Any
) -> MpiCollectiveMetrics:
    operation = test.slug.removeprefix("multi-node.mpi-")
    report = {
        "operation": operation,
        "ranks": 4,
        "nodes": NODES,
        "library": "MPICH 4",
        "sizes": [SMALL, LARGE],
        **changes,
    }
    files = {"mpi-collective.json": json.dumps(report)}
    attempt = made_up_attempt(tmp_path, files, params={}, node_names=sorted(NODES))
    metrics = test().extract_metrics(attempt)
    assert isinstance(metrics, MpiCollectiveMetrics)
    return metrics


@pytest.mark.parametrize(
    ("test", "share"), [(MpiAllReduce, 1.5), (MpiAllGather, 0.75), (MpiAllToAll, 0.75)]
)
def test_the_bus_bandwidth_is_what_crosses_each_wire_at_the_largest_size(
    tmp_path: Path, test: type[MultiNodeTest], share: float
) -> None:
    metrics = measured(tmp_path, test)

    assert metrics.bus_bandwidth == pytest.approx(share * (1 << 30) / 1.25 / 1e9)
    assert metrics.latency == pytest.approx(2.0)
    assert metrics.spread == pytest.approx(40)


def test_one_wrong_value_at_any_size_fails_and_names_the_node(tmp_path: Path) -> None:
    wrong = {**SMALL, "wrong": [0, 0, 1, 0]}

    result = judged(Slugs.MPI_ALL_REDUCE, measured(tmp_path, sizes=[wrong, LARGE]))

    assert result.status is EvaluationStatus.FAILED
    assert result.reason == "Wrong values 1, allows at most 0 (n2: 1 of 1 values at 8 bytes)"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"operation": "broadcast"}, "the report is of broadcast, not of all-reduce"),
        ({"ranks": 3}, "3 ranks were on n3, n1, n2, n4, not one on each"),
        ({"nodes": ["n1", "n1", "n2", "n4"]}, "not one on each of n1, n2, n3, n4"),
        ({"sizes": [SMALL, {**LARGE, "wrong": [0]}]}, "not every rank said"),
        ({"sizes": [SMALL, {**LARGE, "times_s": [0.0]}]}, "no clock of a rank"),
    ],
)
def test_a_report_of_other_work_is_no_measurement(
    tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    with pytest.raises(NotMeasured, match=words):
        measured(tmp_path, **changes)


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity"])
def test_a_time_that_is_no_number_is_refused(tmp_path: Path, value: str) -> None:
    with pytest.raises(ValueError, match="finite"):
        measured(tmp_path, sizes=[SMALL, {**LARGE, "times_s": [float(value)]}])


def test_wrong_values_cannot_be_made_up_for_by_fewer_than_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        measured(tmp_path, sizes=[SMALL, {**LARGE, "wrong": [5, -5, 0, 0]}])
