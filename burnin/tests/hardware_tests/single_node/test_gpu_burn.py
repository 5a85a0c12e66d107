from __future__ import annotations

from pathlib import Path

import pytest

from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.hardware_tests.single_node.gpu_burn import GpuBurn, GpuBurnMetrics
from burnin.tests.hardware_tests.parsers.corpus.recordings import SHIPPED
from burnin.tests.hardware_tests.single_node.attempts import judged
from burnin.tests.hardware_tests.single_node.gpu_attempts import gpu_attempt
from runner.contract.sampling import END_OF_SAMPLES

PRINTED = SHIPPED.parent / "printed"
GOOD = (PRINTED / "gpu_burn_8x_ok.txt").read_bytes().decode()
FAULTY = (PRINTED / "gpu_burn_8x_gpu3_faulty.txt").read_bytes().decode()
COOL = (PRINTED / "samples_8x_cool.csv").read_text()
THROTTLED = (PRINTED / "samples_8x_gpu2_throttled.csv").read_text()
DIED = (SHIPPED / "gpu-burn" / "gpu_died_no_clients_alive.txt").read_bytes().decode()


def extracted(
    directory: Path, burnt: str, samples: str | None = COOL, *, gpus: int = 8, duration_s: int = 60
) -> GpuBurnMetrics:
    sampled = {} if samples is None else {"gpu-samples.csv": samples + END_OF_SAMPLES}
    files = {"gpu-burn.txt": burnt, **sampled}
    params = {"duration_s": duration_s}
    return GpuBurn().extract_metrics(gpu_attempt(directory, files, gpus=gpus, params=params))


def verdict(metrics: GpuBurnMetrics, resource_class: str = "h100-sxm5-8x") -> tuple[str, str]:
    result = judged(GpuBurn.slug, metrics, resource_class)
    return result.status, result.reason


def test_good_gpus_pass_and_the_worst_of_each_is_named(tmp_path: Path) -> None:
    metrics = extracted(tmp_path, GOOD)

    assert (metrics.faulty_gpus, metrics.throttled_gpus, metrics.temperature) == (0, 0, 70)
    assert metrics.sustained_power == pytest.approx(685, abs=1)
    assert metrics.slowest_gpu == pytest.approx(100 * 397160 / 402060)
    assert metrics.details == {
        "temperature": "GPU 2",
        "sustained_power": "GPU 0",
        "slowest_gpu": "GPU 7; fastest GPU 0 at 402060 GFLOPS",
        "throughput": "GPU 7",
    }
    assert verdict(metrics)[0] == EvaluationStatus.PASSED


def test_wrong_values_fail_though_the_exit_code_is_0(tmp_path: Path) -> None:
    assert verdict(extracted(tmp_path, FAULTY)) == (
        EvaluationStatus.FAILED,
        "GPUs that computed wrong values or died 1, allows at most 0 "
        "(GPU 3 (GPU-00000000-0000-0000-0000-000000000003): 17 wrong values)",
    )


def test_a_gpu_that_died_fails_though_nothing_was_sampled(tmp_path: Path) -> None:
    status, reason = verdict(extracted(tmp_path, DIED, samples=None, gpus=1))

    assert status == EvaluationStatus.FAILED
    assert reason.endswith(
        'died; Failure during compute: Error in "Checking loop": CUDA_ERROR_ECC_UNCORRECTABLE)'
    )


def test_a_gpu_that_its_hardware_slows_down_fails(tmp_path: Path) -> None:
    status, reason = verdict(extracted(tmp_path, GOOD, THROTTLED))

    assert status == EvaluationStatus.FAILED
    assert "GPUs that their hardware slowed down 1, allows at most 0 (GPU 2: HW slowdown," in reason
    assert "HW thermal slowdown in 14 of 60 samples)" in reason
    assert "Hottest GPU 88 °C, allows at most 85 (GPU 2)" in reason


def test_a_software_power_cap_is_no_fault(tmp_path: Path) -> None:
    assert "0x0000000000000004" in COOL
    assert extracted(tmp_path, GOOD, COOL).throttled_gpus == 0


def test_a_slow_gpu_fails_and_is_named(tmp_path: Path) -> None:
    slow = GOOD.replace("(400660 Gflop/s)", "(300000 Gflop/s)")

    status, reason = verdict(extracted(tmp_path, slow))

    assert status == EvaluationStatus.FAILED
    assert reason.startswith("Slowest GPU, of the fastest 74.62 %, needs at least 90 (GPU 2; ")


def test_a_gpu_that_draws_too_little_fails_where_a_power_is_published(tmp_path: Path) -> None:
    lazy = "\n".join(
        line.replace(line.split(", ")[2], "420.00 W") if line.startswith("5,") else line
        for line in COOL.splitlines()
    )
    metrics = extracted(tmp_path, GOOD, lazy + "\n")

    assert verdict(metrics)[1].startswith(
        "Lowest GPU, median power 420 W, needs at least 630 (GPU 5)"
    )
    assert verdict(metrics, "gb200-nvl72")[0] == EvaluationStatus.PASSED


@pytest.mark.parametrize(
    ("samples", "why"),
    [
        ("\n".join(COOL.splitlines()[:60]) + "\n", "left 8 samples of GPU 0, at least 30 are"),
        (COOL.replace("\n7, ", "\n9, "), "left 0 samples of GPU 7"),
        (
            COOL.replace("0x0000000000000000", "[N/A]").replace("0x0000000000000004", "[N/A]"),
            "tells throttle reasons of GPU 0 in 0 samples, at least 30 are",
        ),
        (
            COOL.replace("0x0000000000000004", "[N/A]", 440),
            r"tells throttle reasons of GPU 0 in [1-9]\d* samples, at least 30 are",
        ),
    ],
)
def test_a_gpu_that_was_not_watched_is_no_measurement(
    tmp_path: Path, samples: str, why: str
) -> None:
    with pytest.raises(NotMeasured, match=why.replace("(", r"\(")):
        extracted(tmp_path, GOOD, samples)


def test_a_lost_gpu_is_no_sample(tmp_path: Path) -> None:
    lost = COOL + "Unable to determine the device handle for GPU4: 0000:9A:00.0: Unknown Error\n"

    with pytest.raises(NotMeasured, match=r"nvidia-smi lost the GPU at 0000:9A:00\.0"):
        extracted(tmp_path, GOOD, lost)


def test_the_last_sample_may_be_cut_by_our_own_end(tmp_path: Path) -> None:
    assert extracted(tmp_path, GOOD, COOL[:-20]).temperature == 70


def test_fewer_gpus_than_slurm_gave_are_refused(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="worked on 8 GPUs, the job was given 4"):
        extracted(tmp_path, GOOD, gpus=4)


def test_a_shorter_burn_than_asked_for_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="does not say that it burnt for 900 s"):
        extracted(tmp_path, GOOD, duration_s=900)


def test_an_ok_without_any_result_is_no_measurement(tmp_path: Path) -> None:
    idle = GOOD
    for step in range(1, 7):
        idle = idle.replace(f"{step * 2000} ({402000 - 700 + step * 10} Gflop/s)", "0 (0 Gflop/s)")

    with pytest.raises(NotMeasured, match="calls GPU 1 OK, which never reported a result"):
        extracted(tmp_path, idle)


@pytest.mark.parametrize("share", [0.0, 0.5, 0.97])
def test_a_cut_report_is_refused(tmp_path: Path, share: float) -> None:
    with pytest.raises(ParseError):
        extracted(tmp_path, GOOD[: int(len(GOOD) * share)])
