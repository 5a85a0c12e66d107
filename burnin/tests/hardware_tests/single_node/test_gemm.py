from __future__ import annotations

import re
from pathlib import Path

import pytest

from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.hardware_tests.single_node.gemm import Gemm, GemmMetrics
from burnin.tests.hardware_tests.parsers.shipped import shipped
from burnin.tests.hardware_tests.single_node.attempts import judged
from burnin.tests.hardware_tests.single_node.gpu_attempts import gpu_attempt

GOOD = shipped("gpu-fryer", "h100_8x_healthy.txt")
BAD = shipped("gpu-fryer", "h100_8x_gpu5_slow_and_throttled.txt")


def extracted(directory: Path, text: str, *, gpus: int = 8) -> GemmMetrics:
    attempt = gpu_attempt(directory, {"gpu-fryer.txt": text}, gpus=gpus, params={})
    return Gemm().extract_metrics(attempt)


def test_even_gpus_pass_and_the_slowest_is_named(tmp_path: Path) -> None:
    metrics = extracted(tmp_path, GOOD)

    assert metrics.gemm_throughput == pytest.approx(724.9)
    assert metrics.slowest_gpu == pytest.approx(100 * 724900 / 731200)
    assert (metrics.throttled_gpus, metrics.temperature, metrics.gpu_count) == (0, 68, 8)
    assert metrics.details == {
        "gemm_throughput": "GPU 7 (00000000-0000-0000-0000-000000000007)",
        "slowest_gpu": "GPU 7; fastest GPU 0 at 731.2 TFLOPS",
        "temperature": "GPU 2 (00000000-0000-0000-0000-000000000002)",
    }
    assert judged(Gemm.slug, metrics, "h100-sxm5-8x").passed


def test_a_slow_gpu_fails_against_the_floor_and_its_neighbours(tmp_path: Path) -> None:
    result = judged(Gemm.slug, extracted(tmp_path, BAD), "h100-sxm5-8x")

    assert result.status is EvaluationStatus.FAILED
    assert result.reason.startswith(
        "Slowest GPU, bf16 matrix product 612.3 TFLOPS, needs at least 693 (GPU 5 ("
    )
    assert "Slowest GPU, of the fastest 83.75 %, needs at least 90 (GPU 5; " in result.reason
    assert "GPUs that were slowed down 1, allows at most 0 (GPU 5: HW)" in result.reason
    assert "are called unhealthy 1, allows at most 0 (GPU 5 - GPU is" in result.reason


def test_a_class_without_a_published_figure_fails_on_its_neighbours_and_never_passes(
    tmp_path: Path,
) -> None:
    good = judged(Gemm.slug, extracted(tmp_path, GOOD), "l40s-8x")
    bad = judged(Gemm.slug, extracted(tmp_path, BAD), "l40s-8x")

    assert good.reason.startswith("no calibrated threshold for gemm_throughput: ")
    assert (good.status, bad.status) == (EvaluationStatus.ERRORED, EvaluationStatus.FAILED)


def test_another_precision_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="computed in FP8, not in BF16"):
        extracted(tmp_path, GOOD.replace("BF16", "FP8"))


def test_fewer_gpus_than_slurm_gave_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="worked on 8 GPUs, the job was given 4"):
        extracted(tmp_path, GOOD, gpus=4)


def test_a_gpu_without_any_product_is_no_measurement(tmp_path: Path) -> None:
    idle = GOOD.replace("GPU #4: 727600 Gflops/s", "GPU #4:      0 Gflops/s")

    with pytest.raises(NotMeasured, match="got no product of GPU 4"):
        extracted(tmp_path, idle)


SILENT = "\nSome GPUs are not healthy. Reasons:\n  - GPU 4 - GPU is not performing as expected.\n"


def test_what_gpu_fryer_calls_unhealthy_fails_whatever_the_numbers(tmp_path: Path) -> None:
    unhealthy = GOOD.replace("\nAll GPUs seem healthy\n", SILENT)

    result = judged(Gemm.slug, extracted(tmp_path, unhealthy), "h100-sxm5-8x")

    assert result.status is EvaluationStatus.FAILED
    assert result.reason.startswith(
        "GPUs that broke off, or are called unhealthy 1, allows at most 0 (GPU 4"
    )


def test_a_gpu_without_any_product_that_gpu_fryer_names_is_a_fault(tmp_path: Path) -> None:
    dead = GOOD.replace("GPU #4: 727600 Gflops/s", "GPU #4:      0 Gflops/s")

    metrics = extracted(tmp_path, dead.replace("\nAll GPUs seem healthy\n", SILENT))

    assert (metrics.gemm_throughput, metrics.slowest_gpu, metrics.unhealthy_gpus) == (0, 0, 1)
    assert judged(Gemm.slug, metrics, "l40s-8x").status is EvaluationStatus.FAILED


def test_no_product_of_any_gpu_is_no_measurement(tmp_path: Path) -> None:
    every = "".join(f"  - GPU {index} - GPU is slow.\n" for index in range(8))
    verdict = f"\nSome GPUs are not healthy. Reasons:\n{every}"
    silent = re.sub(r"(GPU #\d: )\d+ Gflops", r"\g<1>0 Gflops", GOOD)

    with pytest.raises(NotMeasured, match="no product of any GPU"):
        extracted(tmp_path, silent.replace("\nAll GPUs seem healthy\n", verdict))


@pytest.mark.parametrize("share", [0.0, 0.4, 0.97])
def test_a_cut_report_is_refused(tmp_path: Path, share: float) -> None:
    with pytest.raises(ParseError):
        extracted(tmp_path, GOOD[: int(len(GOOD) * share)])
