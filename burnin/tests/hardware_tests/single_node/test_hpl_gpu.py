from __future__ import annotations

import json
from pathlib import Path

import pytest

from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.metrics import BaseMetrics
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.hardware_tests.single_node.hpl_gpu import HplGpu, HplGpuMetrics, HplMxp, HplOnGpus
from burnin.tests.hardware_tests.parsers.shipped import shipped
from burnin.tests.hardware_tests.single_node.attempts import judged
from burnin.tests.hardware_tests.single_node.gpu_attempts import gpu_attempt
from deploy.cluster.testing import REPOSITORY

H100 = "h100-sxm5-8x"
ASKED = {"n": 264192, "nb": 1024, "p": 4, "q": 2}
ASKED_MXP = {**ASKED, "n": 274432}
NAN = shipped("hpl", "nvidia_residual_nan_failed.txt")
ASKED_NAN = {"n": 299008, "nb": 1024, "p": 2, "q": 4}


def printed(name: str) -> str:
    return (REPOSITORY / "fixtures/printed" / name).read_text()


PASSED, MXP = printed("hpl_8x_h100_passed.txt"), printed("hpl_mxp_8x_h100_passed.txt")


def extracted(
    test: type[HplOnGpus],
    directory: Path,
    report: str,
    asked: dict[str, int],
    *,
    gpus: int = 8,
) -> BaseMetrics:
    files = {test.report: report, "hpl-problem.json": json.dumps(asked)}
    return test().extract_metrics(gpu_attempt(directory, files, gpus=gpus, params={}))


def test_good_gpus_pass_by_the_published_speed(tmp_path: Path) -> None:
    metrics = extracted(HplGpu, tmp_path, PASSED, ASKED)

    assert isinstance(metrics, HplGpuMetrics)
    assert metrics.throughput == pytest.approx(362.7)
    assert metrics.throughput_per_gpu == pytest.approx(45.34, abs=0.01)
    assert judged(HplGpu.slug, metrics, H100).passed


def test_slow_gpus_fail(tmp_path: Path) -> None:
    slow = PASSED.replace("3.627e+05 ( 4.533e+04)", "3.227e+05 ( 4.033e+04)")

    result = judged(HplGpu.slug, extracted(HplGpu, tmp_path, slow, ASKED), H100)

    assert result.reason == ("HPL, FP64 322.7 TFLOPS, needs at least 347 (N=264192, NB=1024)")


def test_what_hpl_warns_of_stands_beside_the_speed(tmp_path: Path) -> None:
    warning = "!!!! WARNING: Rank: 3 : node-1 : GPU 0000:4e:00.0 Clock: 1110 MHz, below 1275\n"

    metrics = extracted(HplGpu, tmp_path, PASSED.replace("====\nT/V", f"==\n{warning}T/V"), ASKED)

    assert "Rank: 3 : node-1 : GPU 0000:4e:00.0" in metrics.details["throughput"]


def test_a_residual_that_is_no_number_is_a_fault_at_any_speed(tmp_path: Path) -> None:
    result = judged(HplGpu.slug, extracted(HplGpu, tmp_path, NAN, ASKED_NAN), "h200-8x")

    assert result.status is EvaluationStatus.FAILED
    assert "failed residual 1, allows at most 0 (residual nan)" in result.reason


def test_a_class_without_a_published_speed_is_uncalibrated(tmp_path: Path) -> None:
    result = judged(HplGpu.slug, extracted(HplGpu, tmp_path, PASSED, ASKED), "b200-8x")

    assert result.status is EvaluationStatus.ERRORED
    assert result.reason.startswith("no calibrated threshold for throughput")


@pytest.mark.parametrize("other", [{"n": 4096}, {"nb": 512}, {"p": 2, "q": 4}])
def test_another_problem_than_asked_is_no_measurement(
    tmp_path: Path, other: dict[str, int]
) -> None:
    with pytest.raises(NotMeasured, match="HPL solved and checked"):
        extracted(HplGpu, tmp_path, PASSED, {**ASKED, **other})


def test_fewer_gpus_than_given_are_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="HPL on GPUs worked on 8 GPUs, the job was given 16"):
        extracted(HplGpu, tmp_path, PASSED, ASKED, gpus=16)


def test_mixed_precision_is_judged_by_its_factorisation(tmp_path: Path) -> None:
    metrics = extracted(HplMxp, tmp_path, MXP, ASKED_MXP)

    assert metrics.model_dump(include={"lu_throughput", "throughput"}) == {
        "lu_throughput": pytest.approx(2540),
        "throughput": pytest.approx(364.95),
    }
    assert judged(HplMxp.slug, metrics, H100).passed


def test_a_score_of_plain_hpl_is_none_of_mixed_precision(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="the report is of another hpl than"):
        extracted(HplMxp, tmp_path, PASSED, ASKED)


def test_a_result_block_that_is_cut_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParseError):
        extracted(HplMxp, tmp_path, MXP[: MXP.rindex("******")], ASKED_MXP)


def test_the_version_comes_from_the_banner(tmp_path: Path) -> None:
    files = {"hpl.txt": PASSED, "hpl-problem.json": json.dumps(ASKED)}
    attempt = gpu_attempt(tmp_path, files, gpus=8, params={})

    assert HplGpu().tool_versions(attempt)["hpl"] == "24.9.0"
