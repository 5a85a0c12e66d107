from __future__ import annotations

import json
from pathlib import Path

import pytest

from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.single_node.hpcg import Hpcg, HpcgMetrics
from burnin.tests.hardware_tests.parsers.shipped import shipped
from burnin.tests.hardware_tests.single_node.attempts import judged, made_up_attempt
from burnin.tests.hardware_tests.single_node.gpu_attempts import gpu_attempt
from deploy.cluster.testing import REPOSITORY

VALID = (REPOSITORY / "fixtures/printed/hpcg_8x_valid.txt").read_text()
INVALID = (REPOSITORY / "fixtures/printed/hpcg_8x_invalid.txt").read_text()


def extracted(directory: Path, report: str, *, gpus: int = 8) -> HpcgMetrics:
    attempt = gpu_attempt(directory, {"hpcg.txt": report}, gpus=gpus, params={})
    return Hpcg().extract_metrics(attempt)


def test_a_valid_rating_waits_for_a_limit(tmp_path: Path) -> None:
    metrics = extracted(tmp_path, VALID)
    result = judged(Hpcg.slug, metrics, "h100-sxm5-8x")

    assert (metrics.throughput, metrics.throughput_per_gpu) == (4021.37, 4021.37 / 8)
    assert result.status is EvaluationStatus.ERRORED
    assert result.reason.startswith("no calibrated threshold for throughput")


def test_a_failed_check_is_a_fault_without_a_rating(tmp_path: Path) -> None:
    metrics = extracted(tmp_path, INVALID)
    result = judged(Hpcg.slug, metrics, "h100-sxm5-8x")

    assert metrics.throughput is None
    assert result.status is EvaluationStatus.FAILED
    assert result.reason.startswith("Checks of HPCG that failed 2, allows at most 0 (Departure")


def test_invalid_without_a_check_is_a_fault_all_the_same(tmp_path: Path) -> None:
    metrics = extracted(tmp_path, INVALID.replace("FAILED", "PASSED"))

    assert metrics.wrong_results == 1
    assert "names no check" in metrics.details["wrong_results"]


def test_one_gpu_of_eight_is_no_measurement(tmp_path: Path) -> None:
    one = VALID.replace("Distributed Processes=8", "Distributed Processes=1")

    with pytest.raises(NotMeasured, match="HPCG worked on 1 GPUs, the job was given 8"):
        extracted(tmp_path, one)


def test_a_rating_without_a_verdict_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="does not say whether its result is valid"):
        extracted(tmp_path, "final = 1234.5 GF ( 9876.0 GB/s)\n")


def on_cores(directory: Path, ranks: int) -> HpcgMetrics:
    node = json.dumps({"ranks": ranks, "edge": 104})
    files = {"hpcg.txt": shipped("hpcg", "hpcg_3.1_valid_short.txt"), "hpcg-node.json": node}
    return Hpcg().extract_metrics(made_up_attempt(directory, files, params={}))


def test_a_node_without_gpus_is_rated_and_waits_for_a_limit(tmp_path: Path) -> None:
    metrics = on_cores(tmp_path, 2)

    assert (metrics.throughput, metrics.throughput_per_gpu, metrics.gpu_count) == (
        *(0.412651, None, 0),
    )
    assert metrics.details["throughput"] == "2 cores, a grid of 104 x 104 x 104 on each"
    assert judged(Hpcg.slug, metrics).reason.startswith("no calibrated threshold for throughput")


def test_fewer_cores_than_given_are_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="HPCG worked on 2 cores, the job was given 64"):
        on_cores(tmp_path, 64)


def test_a_node_is_never_judged_by_a_class_of_other_gpus(tmp_path: Path) -> None:
    result = judged(Hpcg.slug, extracted(tmp_path, INVALID), "cpu-generic")

    assert result.status is EvaluationStatus.ERRORED
    assert result.reason.startswith("8 GPUs were measured, and a node of cpu-generic has 0")


def test_amds_yaml_is_rated_by_its_gpus(tmp_path: Path) -> None:
    metrics = extracted(tmp_path, shipped("hpcg", "rochpcg_8x_mi300x_valid.yaml"))

    assert (metrics.throughput, metrics.throughput_per_gpu) == (1046.27, 1046.27 / 8)
