"""gpu-fryer, whose exit code for an unhealthy GPU is that of any error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runner.contract.slugs import Slugs
from runner.contract.wire import ExitCode
from runner.executors import gemm
from runner.executors.gemm import Gemm
from runner.tests.executors.gpu_node import (
    CONTAINED,
    EIGHT,
    IN_IMAGE,
    NODES,
    ONE_TASK,
    node_of,
    printing,
    run_here,
)
from runner.tests.given import context_told, metadata_of, run_attempt, write_tool

HEALTHY = "corpus/gpu-fryer/h100_8x_healthy.txt"
UNHEALTHY = "corpus/gpu-fryer/h100_8x_gpu5_slow_and_throttled.txt"
FRYER = ["gpu-fryer", "--use-bf16", "--nvml-lib-path", "libnvidia-ml.so.1", "60"]


def told() -> dict[str, Any]:
    return context_told(slug=Slugs.GEMM)


@pytest.mark.parametrize("resource_class", [name for name in NODES if name != "mi300x-8x"])
def test_every_class_gets_the_same_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, resource_class: str
) -> None:
    printing(tmp_path / "bin", "gpu-fryer", HEALTHY)

    ran = run_here(Gemm, tmp_path, monkeypatch, told(), node_of(resource_class))

    assert (ran.argv, ran.refusal) == (FRYER, "")


def test_in_a_container_of_the_site_it_is_a_task_of_srun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = run_here(Gemm, tmp_path, monkeypatch, told(), CONTAINED, srun=HEALTHY)

    assert ran.argv == [*ONE_TASK, *IN_IMAGE, *FRYER]


@pytest.mark.parametrize("exit_code", [0, 1])
def test_an_unhealthy_gpu_is_a_report_whatever_the_exit_code(
    tmp_path: Path, exit_code: int
) -> None:
    printing(tmp_path / "bin", "gpu-fryer", UNHEALTHY, exit_code=exit_code)

    done = run_attempt(tmp_path / "a", told(), tools=tmp_path / "bin", env=EIGHT)

    assert done.returncode == ExitCode.RAN, done.stderr


def test_any_other_error_of_it_could_not_run(tmp_path: Path) -> None:
    write_tool(tmp_path / "bin", "gpu-fryer", "echo Error: No GPUs detected >&2; exit 1")

    done = run_attempt(tmp_path / "a", told(), tools=tmp_path / "bin", env=EIGHT)

    assert done.returncode == ExitCode.CANNOT_RUN
    assert metadata_of(tmp_path / "a")["reason"] == (
        "gpu-fryer left no result (exit 1): Error: No GPUs detected"
    )


def test_one_that_hangs_is_ended_and_could_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gemm, "SETTLE_S", -59.8)
    write_tool(tmp_path / "bin", "gpu-fryer", "exec sleep 60")

    ran = run_here(Gemm, tmp_path, monkeypatch, told(), EIGHT)

    assert ran.refusal.startswith("gpu-fryer hung and was ended after ")


def test_a_missing_tool_is_named(tmp_path: Path) -> None:
    done = run_attempt(tmp_path, told(), env=EIGHT)

    assert done.returncode == ExitCode.CANNOT_RUN
    assert metadata_of(tmp_path)["reason"].startswith("gpu-fryer is not installed on node")
