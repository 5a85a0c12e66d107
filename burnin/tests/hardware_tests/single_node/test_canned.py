"""The canned attempts: the real runner and the real tools, recorded once."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from burnin.hardware_tests.artifacts import (
    MissingArtifact,
    TestArtifactFile,
    open_artifacts,
    read_metadata,
)
from burnin.hardware_tests.evaluation import EvaluationResult, EvaluationStatus, NotMeasured
from burnin.hardware_tests.registry import get_test_class
from burnin.hardware_tests.unpack import TornArtifact
from burnin.tests.hardware_tests.single_node.attempts import (
    CANNED,
    canned_attempt,
    most_calibrated,
    what_is_calibrated,
)
from runner.contract.slugs import Slugs, all_slugs
from runner.contract.wire import AttemptToken

OUR_TOOLS = {
    Slugs.MEMORY_STRESS: "stressapptest",
    Slugs.STORAGE: "fio",
    Slugs.NVME: "fio",
    Slugs.CPU_STRESS: "stress-ng",
}


def verdict_on(slug: str, name: str) -> EvaluationResult:
    test = get_test_class(slug)
    with canned_attempt(slug, name) as collector:
        metrics = test().measure(collector)
    return test.evaluate(metrics, what_is_calibrated(metrics, most_calibrated(test, metrics, name)))


@pytest.mark.parametrize(
    ("slug", "reason"),
    [
        (Slugs.HELLO_WORLD, "Nodes that answered 0, must be exactly 1 (node-1: "),
        (
            Slugs.NODE_HEALTH,
            "Filesystems that cannot be written 1, allows at most 0 (/sys: Permission denied)",
        ),
        (Slugs.MEMORY_STRESS, "Memory errors 1, allows at most 0 (miscompare on CPU 0(0x1) at 0x"),
        (Slugs.HPL_CPU, "Parts with wrong results 1, allows at most 0 (HPL: residual "),
        (
            Slugs.HPL_GPU,
            "Solutions with a failed residual 1, allows at most 0 (residual 48129.5)",
        ),
        (Slugs.HPL_MXP, "Solutions with a failed residual 1, allows at most 0 (residual 317125)"),
        (Slugs.HPCG, "Checks of HPCG that failed 1, allows at most 0 (Spectral Convergence Tests)"),
        (
            Slugs.RVS,
            "Actions that found a fault 1, allows at most 0 (GPU 5 (0000:a6:00.0): compute-",
        ),
        (Slugs.DCGMI, "Subtests that found a fault 2, allows at most 0 (GPU 1: memory: GPU 1 had "),
        (
            Slugs.GPU_BURN,
            "GPUs that computed wrong values or died 1, allows at most 0 (GPU 3 (GPU-",
        ),
        (Slugs.GEMM, "Slowest GPU, of the fastest 83.75 %, needs at least 90 (GPU 5; fastest "),
        (Slugs.PAIR_NET_BANDWIDTH, "Wrong values 46, allows at most 0 (node-2: 23 values of "),
        (Slugs.PAIR_NET_LATENCY, "Wrong values 2200, allows at most 0 (node-2: 1100 values of "),
        (Slugs.PAIR_NET_BANDWIDTH_GPU, "Slowest link, share of its port's rate 48.2 %"),
        (
            Slugs.PAIR_NET_LATENCY_GPU,
            "Links that carried no data 1, allows at most 0 (node-2→node-1 mlx5_6:1: Failed status",
        ),
        (Slugs.NCCL_LOOPBACK, "Wrong values 4096, allows at most 0 (4096 at 17179869184 bytes)"),
        (Slugs.NCCL_LOOPBACK_NETWORK, "Bus bandwidth 9.65 GB/s, needs at least 18 (8 ranks on 1 "),
        (Slugs.NCCL_ALL_TO_ALL, "Wrong values 4096, allows at most 0 (4096 at 17179869184 bytes)"),
        (
            Slugs.NVME,
            "Drives that say they fail 1, allows at most 0 "
            "(nvme1n1, DRIVE MODEL 3840GB, serial SN-nvme1n1: smartctl says that it fails, "
            "critical warning 0x01, its spare is used up); Worst drive, media errors 12,",
        ),
        (
            Slugs.MEMORY_BANDWIDTH,
            "Checks that found wrong data 2, allows at most 0 (StarSTREAM; SingleSTREAM)",
        ),
        (
            Slugs.STORAGE,
            "Phases with I/O errors 1, allows at most 0 "
            "(/tmp: verify: error 84, data came back changed)",
        ),
    ],
)
def test_the_recorded_fault_fails_and_says_what_and_where(slug: str, reason: str) -> None:
    result = verdict_on(slug, "fault")

    assert result.status is EvaluationStatus.FAILED
    assert result.reason.startswith(reason)


@pytest.mark.parametrize(
    ("slug", "reason"),
    [
        (Slugs.GEMM, "Slowest GPU, bf16 matrix product 498.2 TFLOPS, needs at least 552 (GPU 5 ("),
        (
            Slugs.GPU_BURN,
            "GPUs that computed wrong values or died 1, allows at most 0 (GPU 6 (0000:c6:00.0): 1 "
            "wrong products)",
        ),
        (
            Slugs.MEMORY_BANDWIDTH,
            "Checks that found wrong data 2, allows at most 0 (GPU 2 (46:0.0) to GPU 5 (a6:0.0): "
            "data arrive changed; ",
        ),
        (Slugs.HPL_MXP, "Solutions with a failed residual 1, allows at most 0 (residual 48129.5)"),
        (Slugs.HPCG, "Checks of HPCG that failed 1, allows at most 0 (Departure from Symmetry "),
    ],
)
def test_the_fault_recorded_of_eight_mi300x_names_the_gpu(slug: str, reason: str) -> None:
    result = verdict_on(slug, "fault-mi300x-8x")

    assert result.status is EvaluationStatus.FAILED
    assert result.reason.startswith(reason)


@pytest.mark.parametrize(("slug", "tool"), OUR_TOOLS.items())
def test_a_missing_tool_is_named_by_the_runner(slug: str, tool: str) -> None:
    with canned_attempt(slug, "error") as collector:
        assert collector.metadata.outcome == "cannot_run"
        assert collector.metadata.reason.startswith(f"{tool} is not installed on node node-1")


@pytest.mark.parametrize(("slug", "tool"), OUR_TOOLS.items())
def test_the_result_has_a_fingerprint_of_the_tool_that_measured(slug: str, tool: str) -> None:
    with canned_attempt(slug, "pass") as collector:
        metrics = get_test_class(slug)().measure(collector)

        assert collector.metadata.tools[tool]
        assert metrics.fingerprint


def test_a_clock_that_nobody_told_is_no_measurement() -> None:
    with pytest.raises(NotMeasured, match="the check clock_offset could not be read: "):
        verdict_on(Slugs.NODE_HEALTH, "error")


@pytest.mark.parametrize(
    "path", sorted(CANNED.glob("*/*/*.json")), ids=lambda path: "-".join(path.parts[-3:])
)
def test_a_recording_gives_away_no_machine(path: Path) -> None:
    document: dict[str, Any] = json.loads(path.read_text())

    assert {fact["hostname"] for fact in document["facts"]} <= {f"node-{n}" for n in range(1, 5)}
    assert {fact["kernel"] for fact in document["facts"]} <= {"6.1.0-18-amd64"}


@pytest.mark.parametrize("slug", all_slugs())
def test_a_recording_of_which_any_file_is_cut_is_refused(tmp_path: Path, slug: str) -> None:
    for file in TestArtifactFile:
        attempt = tmp_path / file.name
        shutil.copytree(CANNED / slug / "pass", attempt)
        whole = (attempt / file).read_bytes()
        for share in (0.0, 0.3, 0.99):
            if cut(attempt / file, whole, share):
                with pytest.raises((MissingArtifact, TornArtifact)), opened(attempt):
                    pass


def cut(path: Path, whole: bytes, share: float) -> bool:
    path.write_bytes(whole[: int(len(whole) * share)])
    return path.stat().st_size < len(whole)


@contextmanager
def opened(attempt: Path) -> Iterator[None]:
    metadata = read_metadata(attempt)
    with open_artifacts(attempt, AttemptToken(metadata.run_id, metadata.attempt)):
        yield
