"""stressapptest over the job's share of memory, never the machine's."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from runner.contract.slugs import Slugs
from runner.contract.wire import ExitCode
from runner.executors.memory_stress import memory_from_environment, memory_from_scontrol
from runner.tests.given import context_told, metadata_of, run_attempt, write_tool

RECIPE_OF_36_MIB = ["stressapptest", "-W", "-s", "1", "-M", "36", "-m", "1", "-v", "8"]
SMALL = {"SLURM_MEM_PER_NODE": "40", "SLURM_CPUS_ON_NODE": "1"}


def told(**changes: Any) -> dict[str, Any]:
    return context_told(slug=Slugs.MEMORY_STRESS, params={"duration_s": 1}, **changes)


def test_the_real_tool_passes_over_ninety_percent_of_the_jobs_memory(tmp_path: Path) -> None:
    done = run_attempt(tmp_path, told(), env=SMALL)

    metadata = metadata_of(tmp_path)
    assert done.returncode == ExitCode.RAN, done.stderr
    assert "Status: PASS" in (tmp_path / "results/stressapptest.txt").read_text()
    assert metadata["commands"][0]["argv"] == RECIPE_OF_36_MIB
    assert "SAT revision" in metadata["tools"]["stressapptest"]


def test_a_fault_it_finds_is_a_report_and_not_an_error(tmp_path: Path) -> None:
    real = shutil.which("stressapptest")
    write_tool(tmp_path / "bin", "stressapptest", f'exec {real} "$@" --force_errors')

    done = run_attempt(tmp_path / "a", told(), tools=tmp_path / "bin", env=SMALL)

    assert done.returncode == ExitCode.RAN, done.stderr
    assert metadata_of(tmp_path / "a")["commands"][0]["exit_code"] == 1
    report = (tmp_path / "a/results/stressapptest.txt").read_text()
    assert "Status: FAIL - test discovered HW problems" in report


def test_without_a_status_it_was_not_measured(tmp_path: Path) -> None:
    write_tool(tmp_path / "bin", "stressapptest", "echo Segmentation fault >&2; exit 139")

    done = run_attempt(tmp_path / "a", told(), tools=tmp_path / "bin", env=SMALL)

    assert done.returncode == ExitCode.CANNOT_RUN
    assert metadata_of(tmp_path / "a")["reason"] == (
        "stressapptest left no status (exit 139): Segmentation fault"
    )


def test_more_than_is_free_is_refused_with_both_numbers(tmp_path: Path) -> None:
    huge = {**SMALL, "SLURM_MEM_PER_NODE": "999999999"}

    done = run_attempt(tmp_path, told(), env=huge)

    assert done.returncode == ExitCode.CANNOT_RUN
    assert "MiB of free memory, 899999999 MiB are needed" in metadata_of(tmp_path)["reason"]


def test_a_size_of_zero_is_asked_of_the_controller(tmp_path: Path) -> None:
    write_tool(tmp_path / "bin", "scontrol", "echo 'JobId=42 NumNodes=2 TRES=cpu=2,mem=80M,node=2'")
    env = {**SMALL, "SLURM_MEM_PER_NODE": "0", "SLURM_JOB_ID": "42"}

    run_attempt(tmp_path / "a", told(), tools=tmp_path / "bin", env=env)

    assert "-M 36" in " ".join(metadata_of(tmp_path / "a")["commands"][1]["argv"])


def test_where_slurm_names_no_size_nothing_is_guessed(tmp_path: Path) -> None:
    write_tool(tmp_path / "bin", "scontrol", "echo 'JobId=42 NumNodes=1 TRES=cpu=2,node=1'")
    env = {"SLURM_JOB_ID": "42", "SLURM_CPUS_ON_NODE": "1"}

    done = run_attempt(tmp_path / "a", told(), tools=tmp_path / "bin", env=env)

    assert done.returncode == ExitCode.CANNOT_RUN
    assert metadata_of(tmp_path / "a")["reason"].startswith("Slurm names no memory size")


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"SLURM_MEM_PER_NODE": "100"}, 100 << 20),
        ({"SLURM_MEM_PER_CPU": "10", "SLURM_CPUS_ON_NODE": "4"}, 40 << 20),
        ({"SLURM_MEM_PER_CPU": "10"}, None),
        ({"SLURM_MEM_PER_NODE": "0"}, None),
        ({"SLURM_MEM_PER_NODE": "lots"}, None),
        ({}, None),
    ],
)
def test_the_environment_names_the_memory(
    environment: dict[str, str], expected: int | None
) -> None:
    assert memory_from_environment(environment) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("JobId=1 NumNodes=1 TRES=cpu=1,mem=2G,node=1 X=y", 2 << 30),
        ("NumNodes=2 TRES=cpu=1,mem=3000M,node=2", 1500 << 20),
        ("NumNodes=1 ReqTRES=cpu=1,mem=9G AllocTRES=cpu=1,mem=1.5G,node=1", 1536 << 20),
        ("NumNodes=1 ReqTRES=cpu=1,mem=9G AllocTRES=(null)", None),
        ("NumNodes=1 TRES=cpu=1,node=1 Comment=mem=5G", None),
        ("slurm_load_jobs error: Invalid job id specified", None),
        ("", None),
    ],
)
def test_the_controller_names_the_memory(text: str, expected: int | None) -> None:
    assert memory_from_scontrol(text) == expected
