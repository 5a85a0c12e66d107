from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from burnin.hardware_tests.batch import SlurmBatchConfig
from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.hardware_tests.resource_classes import hardware_of
from burnin.hardware_tests.single_node.memory_bandwidth import (
    MemoryBandwidth,
    MemoryBandwidthMetrics,
)
from burnin.tests.hardware_tests.parsers.shipped import shipped
from burnin.tests.hardware_tests.single_node.attempts import judged, made_up_attempt
from burnin.tests.hardware_tests.single_node.gpu_attempts import gpu_attempt
from burnin.tests.hardware_tests.toy import context

STREAM = shipped("hpcc", "pass_openblas_np2.txt")
NODE = {
    "n": 1536, "nb": 192, "p": 1, "q": 2, "ranks": 2, "blas": "libopenblas.so.0",
    "governors": [], "load": 0.5,
}  # fmt: skip
MIB = 1 << 20
WRONG = "Running device_local_copy.\nInvalid value when checking the pattern at 0x7f00\n"


def case(name: str, rows: Sequence[Sequence[float | None]], **said: Any) -> dict[str, Any]:
    cells = [["N/A" if cell is None else str(cell) for cell in row] for row in rows]
    return {
        "name": name,
        "status": "Passed",
        "bandwidth_description": "bandwidth (GB/s)",
        "bandwidth_matrix": cells,
        **said,
    }


def nvbandwidth(*, own: float = 1519.0, down: float = 55.0, pair: float = 390.0, gpus: int = 8,
                **changed: dict[str, Any]) -> str:  # fmt: skip
    """Return a report in which the last GPU, or pair, is the slowest."""
    pairs = [[None if a == b else 395.0 for a in range(gpus)] for b in range(gpus)]
    pairs[-1][0] = pair
    cases = {
        "device_local_copy": case("device_local_copy", [[1520.0] * (gpus - 1) + [own]]),
        "host_to_device_memcpy_ce": case(
            "host_to_device_memcpy_ce", [[55.3] * (gpus - 1) + [down]]
        ),
        "device_to_host_memcpy_ce": case("device_to_host_memcpy_ce", [[54.0] * gpus]),
        "device_to_device_memcpy_read_ce": case("device_to_device_memcpy_read_ce", pairs),
        **changed,
    }
    return json.dumps({"nvbandwidth": {"version": "v0.8", "testcases": list(cases.values())}})


def of_gpus(directory: Path, text: str, *, gpus: int = 8) -> MemoryBandwidthMetrics:
    attempt = gpu_attempt(directory, {"nvbandwidth.txt": text}, gpus=gpus, params={})
    return MemoryBandwidth().extract_metrics(attempt)


def of_host(
    directory: Path, text: str = STREAM, *, cache_bytes: int = MIB
) -> MemoryBandwidthMetrics:
    files = {
        "hpccoutf.txt": text,
        "hpcc-node.json": json.dumps(NODE),
        "memory-node.json": json.dumps({"cache_bytes": cache_bytes}),
    }
    return MemoryBandwidth().extract_metrics(made_up_attempt(directory, files, params={}))


def test_good_gpus_pass_and_the_slowest_of_each_is_named(tmp_path: Path) -> None:
    metrics = of_gpus(tmp_path, nvbandwidth())

    assert (metrics.memory_bandwidth, metrics.host_to_device) == (3038, 55)
    assert (metrics.device_to_host, metrics.peer_bandwidth, metrics.array_cover) == (54, 390, None)
    assert metrics.spread == pytest.approx(100 / 1520)
    assert metrics.details == {
        "memory_bandwidth": "GPU 7, copied within; fastest 3040 GB/s",
        "host_to_device": "GPU 7",
        "device_to_host": "GPU 0",
        "peer_bandwidth": "GPU 7 from GPU 0",
    }
    assert judged(MemoryBandwidth.slug, metrics, "h100-sxm5-8x").passed


@pytest.mark.parametrize(
    ("slow", "reason"),
    [
        ({"own": 900.0}, "Memory, read and written 1800 GB/s, needs at least 1905 (GPU 7, copied "),
        ({"down": 27.0}, "Host to slowest GPU 27 GB/s, needs at least 48 (GPU 7)"),
        ({"pair": 88.0}, "Slowest pair of GPUs 88 GB/s, needs at least 335 (GPU 7 from GPU 0)"),
    ],
)
def test_a_slow_gpu_fails_with_its_name(tmp_path: Path, slow: dict[str, Any], reason: str) -> None:
    result = judged(MemoryBandwidth.slug, of_gpus(tmp_path, nvbandwidth(**slow)), "h100-sxm5-8x")

    assert result.status is EvaluationStatus.FAILED
    assert result.reason.startswith(reason)


def test_wrong_data_fails_on_every_class_though_no_speed_was_measured(tmp_path: Path) -> None:
    metrics = of_gpus(tmp_path, WRONG)

    for resource_class in ("h100-sxm5-8x", "l40s-8x"):
        result = judged(MemoryBandwidth.slug, metrics, resource_class)
        assert result.status is EvaluationStatus.FAILED
        assert result.reason.startswith(
            "Checks that found wrong data 1, allows at most 0 (device_local_copy: Invalid value"
        )


def test_a_class_with_a_limit_between_gpus_must_have_measured_it(tmp_path: Path) -> None:
    waived = {"name": "device_to_device_memcpy_read_ce", "status": "Waived"}
    metrics = of_gpus(tmp_path, nvbandwidth(device_to_device_memcpy_read_ce=waived))

    result = judged(MemoryBandwidth.slug, metrics, "h100-sxm5-8x")

    assert result.status is EvaluationStatus.ERRORED
    assert result.reason.startswith("peer_bandwidth was not measured, and nodes of its class")


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"name": "device_local_copy", "status": "Not Found"}, "did not measure device_local_copy"),
        ({"name": "device_local_copy", "status": "Waived"}, "did not measure device_local_copy"),
        (case("device_local_copy", [[1520.0] * 7]), "on 7 GPUs, the job was given 8"),
        (case("device_local_copy", [[1520.0] * 8], bandwidth_description="(ns)"), "in ns, not in"),
        (case("other", [[1520.0] * 8]), "reports device_local_copy 0 times, it must be once"),
    ],
)
def test_what_was_not_measured_on_every_gpu_is_no_measurement(
    tmp_path: Path, changed: dict[str, Any], why: str
) -> None:
    with pytest.raises(NotMeasured, match=why):
        of_gpus(tmp_path, nvbandwidth(device_local_copy=changed))


def test_a_pair_that_was_left_out_is_no_measurement(tmp_path: Path) -> None:
    pairs: list[list[float | None]] = [[None, 395.0], [None, None]]
    text = nvbandwidth(
        gpus=2,
        device_to_device_memcpy_read_ce=case("device_to_device_memcpy_read_ce", pairs),
    )

    with pytest.raises(NotMeasured, match="measured 1 pairs of GPUs, 2 GPUs have 2"):
        of_gpus(tmp_path, text, gpus=2)


def test_an_error_of_nvbandwidth_is_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="CUDA_ERROR_NO_DEVICE"):
        of_gpus(tmp_path, shipped("nvbandwidth", "json_error_no_device.json"))


def test_a_node_without_gpus_shows_its_triad_and_passes_on_right_data(tmp_path: Path) -> None:
    metrics = of_host(tmp_path)

    assert metrics.memory_bandwidth == pytest.approx(2 * 28.728722)
    assert metrics.array_cover == pytest.approx(3 * 8 * 393216 * 2 / MIB)
    assert (metrics.host_to_device, metrics.gpu_count) == (None, 0)
    assert metrics.details["memory_bandwidth"] == (
        "STREAM triad on 2 cores at once; one alone 28.76 GB/s; load before it 0.5"
    )
    assert judged(MemoryBandwidth.slug, metrics, "cpu-generic").reason == (
        "Checks that found wrong data 0, allows at most 0"
    )


def test_arrays_that_fit_the_caches_are_no_measurement(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match=r"are 2\.25 times the caches, 4 are needed"):
        of_host(tmp_path, cache_bytes=8 * MIB)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.97])
def test_a_cut_report_is_refused(tmp_path: Path, share: float) -> None:
    with pytest.raises(ParseError):
        of_host(tmp_path, STREAM[: int(len(STREAM) * share)])


def test_what_measured_the_other_kind_of_memory_is_never_judged(tmp_path: Path) -> None:
    host = judged(MemoryBandwidth.slug, of_host(tmp_path), "h100-sxm5-8x")
    gpus = judged(MemoryBandwidth.slug, of_gpus(tmp_path, nvbandwidth()), "cpu-generic")
    tray = judged(MemoryBandwidth.slug, of_gpus(tmp_path, nvbandwidth()), "gb200-nvl72")

    assert host.reason.startswith(
        "0 GPUs were measured, and a node of h100-sxm5-8x has 8: see its class"
    )
    assert {host.status, gpus.status, tray.status} == {EvaluationStatus.ERRORED}


def test_the_fingerprint_names_the_tool_that_measured(tmp_path: Path) -> None:
    attempt = gpu_attempt(tmp_path, {"nvbandwidth.txt": nvbandwidth()}, gpus=8, params={})

    assert MemoryBandwidth().tool_versions(attempt) == {"tool": "nvbandwidth v0.8"}


@pytest.mark.parametrize(("resource_class", "gpus"), [("h200-8x", 8), ("cpu-generic", 0)])
def test_only_a_class_with_gpus_asks_slurm_for_them(resource_class: str, gpus: int) -> None:
    count = hardware_of(resource_class).gpus_per_node

    config = MemoryBandwidth().make_batch_config(context(nodelist=("n1",), gpus_per_node=count))

    assert isinstance(config, SlurmBatchConfig)
    assert config.gpus_per_node == gpus
