"""stressapptest over the job's share of memory, never the machine's."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from runner.contract.slugs import Slugs
from runner.contract.wire import ExitCode
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
