"""What a matrix of iperf3 reports is taken for: a pair without a connection is a finding."""

from __future__ import annotations

import json
from collections.abc import Mapping
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from burnin.hardware_tests.artifacts import MissingArtifact
from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.multi_node.iperf_matrix import IperfMatrix, IperfMatrixMetrics
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.tests.hardware_tests.single_node.attempts import judged, made_up_attempt
from runner.contract.slugs import Slugs

NODES = ("n1", "n2", "n3")
PAIRS = list(permutations(NODES, 2))
REFUSED = {
    "start": {"version": "iperf 3.12"},
    "end": {},
    "error": "unable to connect to server: Connection refused",
}


def moved(gbps: float, *, retransmits: int = 0, **changes: Any) -> Mapping[str, Any]:
    ends = {"bits_per_second": gbps * 1e9, "bytes": round(gbps * 1e9 / 8), "seconds": 1.0}
    return {
        "start": {
            "version": "iperf 3.12",
            "test_start": {"protocol": "TCP", "num_streams": 4, "duration": 1, "reverse": 0},
        },
        "end": {"sum_sent": {**ends, "retransmits": retransmits}, "sum_received": ends},
        **changes,
    }


def measured(
    tmp_path: Path, reports: Mapping[tuple[str, str], Mapping[str, Any]]
) -> IperfMatrixMetrics:
    whole = {pair: moved(10.0) for pair in PAIRS} | dict(reports)
    files = {f"iperf/{one}--{other}.json": json.dumps(each) for (one, other), each in whole.items()}
    attempt = made_up_attempt(tmp_path, files, params={"duration_s": 1}, node_names=NODES)
    return IperfMatrix().extract_metrics(attempt)


def test_the_slowest_pair_decides_and_is_named_with_its_direction(tmp_path: Path) -> None:
    metrics = measured(tmp_path, {("n3", "n1"): moved(2.5, retransmits=7)})

    assert metrics.slowest_pair == pytest.approx(2.5)
    assert metrics.median_pair == pytest.approx(10)
    assert metrics.details["slowest_pair"].startswith("n3→n1 2.5, n")
    assert (metrics.most_retransmits, metrics.details["most_retransmits"]) == (7, "n3→n1")
    assert metrics.pair_count == 6


def test_a_pair_that_cannot_connect_fails_and_is_named(tmp_path: Path) -> None:
    result = judged(Slugs.IPERF_MATRIX, measured(tmp_path, {("n1", "n2"): REFUSED}))

    assert result.status is EvaluationStatus.FAILED
    assert result.reason == (
        "Pairs without a connection 1, allows at most 0 "
        "(n1→n2: unable to connect to server: Connection refused)"
    )


def test_a_pair_that_was_broken_off_is_not_taken_for_its_speed(tmp_path: Path) -> None:
    broken = moved(10.0, error="the server has terminated")

    assert measured(tmp_path, {("n1", "n2"): broken}).failed_pairs == 1


def test_where_nobody_can_connect_nothing_was_measured(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="no pair could connect: n1→n2: unable to connect"):
        measured(tmp_path, dict.fromkeys(PAIRS, REFUSED))


def test_a_report_that_is_none_is_no_failed_pair(tmp_path: Path) -> None:
    with pytest.raises(ParseError):
        measured(tmp_path, {("n1", "n2"): {"start": {}}})


def test_a_missing_report_is_no_measurement(tmp_path: Path) -> None:
    attempt = made_up_attempt(tmp_path, {}, params={"duration_s": 1}, node_names=NODES)

    with pytest.raises(MissingArtifact):
        IperfMatrix().extract_metrics(attempt)
