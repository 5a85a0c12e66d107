from __future__ import annotations

from pathlib import Path

import pytest

from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.single_node.rvs import Rvs, RvsMetrics
from burnin.tests.hardware_tests.parsers.shipped import shipped
from burnin.tests.hardware_tests.single_node.attempts import judged
from burnin.tests.hardware_tests.single_node.gpu_attempts import gpu_attempt

LEVEL_4 = shipped("rvs", "level_4_8x_mi300x.txt")
GEMM = shipped("rvs", "gemm_bf16_8x_mi300x.txt")
REACHED = "Target GFLOPS: 552000 met: TRUE"
STOPPED = "pass: TRUE"


def extracted(directory: Path, text: str, *, level: int = 4, gpus: int = 8) -> RvsMetrics:
    params, on = {"level": level}, "mi300x-8x"
    attempt = gpu_attempt(directory, {"rvs.txt": text}, gpus=gpus, params=params, resource_class=on)
    return Rvs().extract_metrics(attempt)


def test_what_rvs_finds_nothing_in_passes(tmp_path: Path) -> None:
    metrics = extracted(tmp_path, LEVEL_4)

    assert (metrics.failed_tests, metrics.failed_gpus, metrics.passed_tests) == (0, 0, 11)
    assert judged(Rvs.slug, metrics).passed


@pytest.mark.parametrize(
    ("good", "bad", "words"),
    [
        (REACHED, REACHED.replace("TRUE", "FALSE"), "GFLOPS, AMD asks for 552000"),
        (STOPPED, "pass: FALSE", "did not reach its power: 7"),
        ("mem Test 7 : PASS", "mem Test 7 : FAIL", "memory test 7 failed 1 times"),
    ],
)
def test_a_fault_fails_though_the_summary_says_pass(
    tmp_path: Path, good: str, bad: str, words: str
) -> None:
    result = judged(Rvs.slug, extracted(tmp_path, LEVEL_4.replace(good, bad, 1)))

    assert result.status is EvaluationStatus.FAILED
    assert words in result.reason


@pytest.mark.parametrize(
    ("text", "level", "left_out"),
    [
        (GEMM, 3, "BABEL; PEBB; PBQT"),
        (GEMM, 4, "BABEL; PEBB; PBQT; MEM; IET"),
        (LEVEL_4.replace(" " + STOPPED, " stop", 1), 4, "power-stress on GPU 0"),
        (LEVEL_4.replace("mem Test", "memory"), 4, "memtest"),
        (LEVEL_4.replace("32mPASS", "31mFAIL", 1), 4, "hbm_full failed"),
    ],
    ids=range(5),
)
def test_what_rvs_left_out_was_not_tested(
    tmp_path: Path, text: str, level: int, left_out: str
) -> None:
    with pytest.raises(NotMeasured, match=left_out):
        extracted(tmp_path, text, level=level)


def test_fewer_gpus_than_slurm_gave_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="RVS worked on 8 GPUs, the job was given 4"):
        extracted(tmp_path, LEVEL_4, gpus=4)
