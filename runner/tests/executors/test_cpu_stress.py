"""stress-ng, whose exit code says less than its log."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from runner.contract.slugs import Slugs
from runner.contract.wire import ExitCode
from runner.tests.given import REPOSITORY, context_told, metadata_of, run_attempt, write_tool

RECORDED = REPOSITORY / "fixtures/corpus/stress-ng"
LOG_FILE = 'for word; do [ "$last" = --log-file ] && log=$word; last=$word; done\n'


def told() -> dict[str, Any]:
    return context_told(slug=Slugs.CPU_STRESS, params={"duration_s": 1})


def test_the_real_tool_checks_every_cpu(tmp_path: Path) -> None:
    done = run_attempt(tmp_path, told())

    metadata = metadata_of(tmp_path)
    assert done.returncode == ExitCode.RAN, done.stderr
    assert " successful run completed" in (tmp_path / "results/stress-ng.txt").read_text()
    workers = str(len(os.sched_getaffinity(0)))
    recipe = ["--cpu", workers, "--cpu-method", "all", "--verify", "--metrics", "--timeout", "1"]
    assert metadata["commands"][0]["argv"][1:9] == recipe
    assert metadata["tools"]["stress-ng"].startswith("stress-ng, version ")


def test_wrong_values_are_a_report_and_not_an_error(tmp_path: Path) -> None:
    script = f'{LOG_FILE}cp {RECORDED}/wrong_values.txt "$log"; exit 2'
    write_tool(tmp_path / "bin", "stress-ng", script)

    done = run_attempt(tmp_path / "a", told(), tools=tmp_path / "bin")

    assert done.returncode == ExitCode.RAN, done.stderr
    assert "fail:" in (tmp_path / "a/results/stress-ng.txt").read_text()


def test_without_an_end_it_was_not_measured(tmp_path: Path) -> None:
    write_tool(tmp_path / "bin", "stress-ng", "echo out of memory >&2; exit 3")

    done = run_attempt(tmp_path / "a", told(), tools=tmp_path / "bin")

    assert done.returncode == ExitCode.CANNOT_RUN
    assert metadata_of(tmp_path / "a")["reason"] == (
        "stress-ng did not get to its end (exit 3): out of memory"
    )


def test_a_missing_tool_is_named(tmp_path: Path) -> None:
    done = run_attempt(tmp_path, told(), env={"PATH": "/no-such"})

    assert done.returncode == ExitCode.CANNOT_RUN
    assert metadata_of(tmp_path)["reason"].startswith("stress-ng is not installed on node")
