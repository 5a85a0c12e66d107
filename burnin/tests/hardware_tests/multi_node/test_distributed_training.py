"""What a training on GPUs is taken for, and what is refused: its canned attempts, changed."""

from __future__ import annotations

import json

import pytest

from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.multi_node.distributed_training import DistributedTraining
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind
from burnin.tests.hardware_tests.single_node.attempts import canned_attempt, judged

SLUG = DistributedTraining.slug


def test_the_slowest_gpu_sets_the_pace_and_is_named() -> None:
    with canned_attempt(SLUG, "pass") as collector:
        metrics = DistributedTraining().extract_metrics(collector)

    assert metrics.rank_count == 32
    assert 300 < metrics.throughput < 400
    assert metrics.details["straggler_ratio"].startswith("node-2:5 124 ms, ")
    assert judged(SLUG, metrics).passed


def test_a_gpu_that_ends_with_other_weights_is_named() -> None:
    with canned_attempt(SLUG, "fault") as collector:
        result = judged(SLUG, DistributedTraining().extract_metrics(collector))

    assert result.status is EvaluationStatus.FAILED
    assert result.reason == (
        "Ranks that ended with other weights 1, allows at most 0 (node-4:5, first in round 41)"
    )


def test_a_gpu_a_tenth_slower_than_the_rest_fails() -> None:
    with canned_attempt(SLUG, "pass") as collector:
        path = collector.get_custom_file("training.json")
        report = json.loads(path.read_text())
        report["compute_s"][0] = 0.14
        path.write_text(json.dumps(report))
        result = judged(SLUG, DistributedTraining().extract_metrics(collector))

    assert result.status is EvaluationStatus.FAILED
    assert "Slowest rank to median 1.159" in result.reason
    assert "(node-1:0 140 ms, " in result.reason


def test_a_collective_that_timed_out_is_no_measurement_and_names_the_rank() -> None:
    with canned_attempt(SLUG, "error") as collector, pytest.raises(ParseError) as refused:
        DistributedTraining().extract_metrics(collector)

    assert refused.value.kind is RefusalKind.COLLECTIVE_TIMEOUT
    assert "rank 29" in str(refused.value)


def test_a_gpu_that_did_not_take_part_spoils_the_whole() -> None:
    with canned_attempt(SLUG, "pass") as collector:
        path = collector.get_custom_file("gpu-node.json")
        path.write_text(path.read_text().replace('"gpu_count": 8', '"gpu_count": 9'))

        with pytest.raises(NotMeasured, match=r"32 ranks were on .* not one on each of "):
            DistributedTraining().extract_metrics(collector)
