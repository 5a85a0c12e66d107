"""Looks at what was asked for, says so when it cannot."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runner.contract.health import USUAL
from runner.contract.slugs import Slugs
from runner.contract.wire import ExitCode
from runner.tests.given import context_told, metadata_of, run_attempt


def look(
    directory: Path, *checks: str, facts_root: str = "/", filesystems: tuple[str, ...] = ()
) -> dict[str, Any]:
    """Run the checks for real and return what node-health.json holds."""
    params: dict[str, Any] = {
        "checks": checks,
        "filesystems": filesystems or [str(directory)],
        "watch_s": 0,
        "golden": {},
    }
    told = context_told(slug=Slugs.NODE_HEALTH, params=params, facts_root=facts_root)
    done = run_attempt(directory, told)
    assert done.returncode == ExitCode.RAN, done.stderr
    found: dict[str, Any] = json.loads((directory / "results/node-health.json").read_text())
    return found


def test_every_check_answers_on_this_machine(tmp_path: Path) -> None:
    login_clock = {"offset_s": 0.0, "filesystem": "ext4"}
    (tmp_path / "login-clock.json").write_text(json.dumps(login_clock))

    found = look(tmp_path, *USUAL)

    assert found["memory_size"]["bytes"] > 0
    assert found["cpu_count"]["count"] > 0
    (filesystem,) = found["filesystems"]
    assert filesystem["writable"] and filesystem["free_bytes"] > 0
    assert set(found) == set(USUAL) - {"disk_space"}


def test_what_was_not_asked_for_is_not_looked_at(tmp_path: Path) -> None:
    assert set(look(tmp_path, "cpu_count")) == {"cpu_count"}


def test_sizes_are_read_below_the_facts_root(tmp_path: Path) -> None:
    (tmp_path / "root/proc").mkdir(parents=True)
    (tmp_path / "root/proc/meminfo").write_text("MemTotal: 1024 kB\n")

    found = look(tmp_path / "a", "memory_size", "cpu_count", facts_root=str(tmp_path / "root"))

    assert found["memory_size"] == {"bytes": 1 << 20}
    assert found["cpu_count"] == {"error": f"not readable below {tmp_path}/root"}


def test_without_the_login_hosts_clock_there_is_no_offset(tmp_path: Path) -> None:
    found = look(tmp_path, "clock_offset")

    assert "login-clock.json is missing" in found["clock_offset"]["error"]


def test_each_filesystem_is_listed_with_what_is_wrong(tmp_path: Path) -> None:
    found = look(tmp_path, "filesystems", filesystems=(str(tmp_path), "/proc", "/no-such"))

    assert [each["writable"] for each in found["filesystems"]] == [True, False, False]
    assert found["filesystems"][2]["error"] == "No such file or directory"
    assert "size_bytes" not in found["filesystems"][2]


def test_an_unknown_check_is_refused(tmp_path: Path) -> None:
    params = {"checks": ["phase_of_moon"], "filesystems": ["/tmp"], "watch_s": 0, "golden": {}}

    done = run_attempt(tmp_path, context_told(slug=Slugs.NODE_HEALTH, params=params))

    assert done.returncode == ExitCode.CANNOT_RUN
    assert "unknown checks ['phase_of_moon']" in metadata_of(tmp_path)["reason"]


@pytest.mark.parametrize("asked", [("kernel_errors",)])
def test_the_kernel_log_is_kept_as_evidence(tmp_path: Path, asked: tuple[str, ...]) -> None:
    found = look(tmp_path, *asked)["kernel_errors"]

    # Some machines hide the log from us: then the check says so, and passes nothing.
    assert "error" in found or found["count"] == len(found["lines"])
    assert (tmp_path / "results/kernel-log.txt").exists()
