"""dcgmi diag, whose exit code says less than its report. Its stand-ins print real formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runner.contract.slugs import Slugs
from runner.contract.wire import ExitCode
from runner.executors import dcgmi
from runner.executors.dcgmi import Dcgmi
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

DIAG = "corpus/dcgmi-diag"
PASSED = f"{DIAG}/r3_v4_pass.json"


def told(level: int = 3) -> dict[str, Any]:
    return context_told(slug=Slugs.DCGMI, params={"level": level})


@pytest.mark.parametrize("resource_class", [name for name in NODES if name != "mi300x-8x"])
def test_every_class_gets_the_same_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, resource_class: str
) -> None:
    ran = run_here(Dcgmi, tmp_path, monkeypatch, told(), node_of(resource_class), dcgmi=PASSED)

    assert ran.argv == ["dcgmi", "diag", "-r", "3", "-j"]
    assert f'"gpu_count": {NODES[resource_class]}' in ran.text("gpu-node.json")


def test_in_a_container_of_the_site_it_is_a_task_of_srun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = run_here(Dcgmi, tmp_path, monkeypatch, told(), CONTAINED, srun=PASSED)

    assert ran.argv == [*ONE_TASK, *IN_IMAGE, "dcgmi", "diag", "-r", "3", "-j"]


@pytest.mark.parametrize("exit_code", [0, 226, 205])
@pytest.mark.parametrize("printed", ["r3_v4_gpu1_fail.json", "r3_v3_text_mixed_gpu_fail.txt"])
def test_a_fault_is_a_report_whatever_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: str, exit_code: int
) -> None:
    printing(tmp_path / "bin", "dcgmi", f"{DIAG}/{printed}", exit_code=exit_code)

    ran = run_here(Dcgmi, tmp_path, monkeypatch, told(), EIGHT)

    assert "Fail" in ran.text("dcgmi-diag.txt")
    assert ran.exit_code == exit_code


def test_without_its_host_engine_it_could_not_run(tmp_path: Path) -> None:
    printing(tmp_path / "bin", "dcgmi", f"{DIAG}/error_no_hostengine.txt", exit_code=255)

    done = run_attempt(tmp_path / "a", told(), tools=tmp_path / "bin", env=EIGHT)

    assert done.returncode == ExitCode.CANNOT_RUN
    reason = metadata_of(tmp_path / "a")["reason"]
    assert reason.startswith("dcgmi-diag left no result (exit 255): Error: unable to establish")


def test_a_missing_tool_is_named(tmp_path: Path) -> None:
    done = run_attempt(tmp_path, told(), env={**EIGHT, "PATH": "/no-such"})

    assert done.returncode == ExitCode.CANNOT_RUN
    assert metadata_of(tmp_path)["reason"].startswith("dcgmi is not installed on node")


def test_one_that_hangs_is_ended_and_could_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(dcgmi.LONGEST_S, 1, 0.2)
    write_tool(tmp_path / "bin", "dcgmi", "exec sleep 60")

    ran = run_here(Dcgmi, tmp_path, monkeypatch, told(level=1), EIGHT)

    assert ran.refusal.startswith("dcgmi-diag hung and was ended after 0 s")


def test_a_node_without_gpus_is_told_what_to_look_at(tmp_path: Path) -> None:
    done = run_attempt(tmp_path, told())

    assert done.returncode == ExitCode.CANNOT_RUN
    assert "Slurm gave this job no GPUs" in metadata_of(tmp_path)["reason"]
