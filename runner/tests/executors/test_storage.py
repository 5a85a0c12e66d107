"""fio on a scratch file that leaves no trace, or on a device that is only read."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from runner.contract.slugs import Slugs
from runner.contract.wire import ExitCode
from runner.endings import CannotRun
from runner.executors import storage
from runner.executors.storage import READING, RECIPE, Scratch, fio
from runner.tests.given import context_told, metadata_of, run_attempt, write_tool


def told(path: Path | str, *, target: str = "directory") -> dict[str, Any]:
    params = {"target": target, "path": str(path), "duration_s": 1}
    return context_told(slug=Slugs.STORAGE, params=params)


def test_the_real_tool_reports_every_phase_and_leaves_no_scratch_file(tmp_path: Path) -> None:
    (tmp_path / "scratch").mkdir()

    done = run_attempt(tmp_path / "a", told(tmp_path / "scratch"))

    assert done.returncode == ExitCode.RAN, done.stderr
    for phase in RECIPE:
        (job,) = json.loads((tmp_path / f"a/results/fio-{phase}.json").read_text())["jobs"]
        assert job["error"] == 0
        assert job["read"]["total_ios"] + job["write"]["total_ios"] > 0
    assert list((tmp_path / "scratch").iterdir()) == []
    assert metadata_of(tmp_path / "a")["tools"]["fio"].startswith("fio-3")


def test_a_failing_fio_that_reports_has_run(tmp_path: Path) -> None:
    script = """for word; do
case $word in --output=*) echo '{"jobs":[]}' > "${word#--output=}";; esac
done
exit 1"""
    write_tool(tmp_path / "bin", "fio", script)

    done = run_attempt(tmp_path / "a", told(tmp_path), tools=tmp_path / "bin")

    assert done.returncode == ExitCode.RAN
    codes = [command["exit_code"] for command in metadata_of(tmp_path / "a")["commands"]]
    assert codes == [1] * len(RECIPE)


def test_a_fio_without_a_report_was_not_measured(tmp_path: Path) -> None:
    write_tool(tmp_path / "bin", "fio", "echo engine libaio not loadable >&2; exit 1")

    done = run_attempt(tmp_path / "a", told(tmp_path), tools=tmp_path / "bin")

    assert done.returncode == ExitCode.CANNOT_RUN
    assert metadata_of(tmp_path / "a")["reason"] == (
        "fio left no report of its verify phase (exit 1): engine libaio not loadable"
    )


@pytest.mark.parametrize(
    ("path", "sentence"),
    [("/dev/no-such-disk", "cannot be used on"), ("/dev/null", "is not a block device")],
)
def test_what_is_no_block_device_is_refused(tmp_path: Path, path: str, sentence: str) -> None:
    done = run_attempt(tmp_path, told(path, target="device"))

    assert done.returncode == ExitCode.CANNOT_RUN
    assert sentence in metadata_of(tmp_path)["reason"]
    assert metadata_of(tmp_path)["commands"] == []


@pytest.mark.parametrize("phase", READING)
def test_a_device_is_never_written(phase: str) -> None:
    argv = fio(phase, filename="/dev/nvme0n1", duration_s=1, report=Path("r.json"))

    assert "--readonly" in argv
    assert not [word for word in argv if word.startswith("--rw") and "write" in word]
    assert "--allow_file_create=0" in argv


def test_the_scratch_file_has_no_name_while_it_is_used(tmp_path: Path) -> None:
    with Scratch(tmp_path) as filename:
        assert list(tmp_path.iterdir()) == []
        assert os.stat(filename).st_size == storage.SCRATCH_BYTES  # noqa: PTH116


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(CannotRun, match=r"no scratch file in .*/gone: No such file"):
        Scratch(tmp_path / "gone").__enter__()


def test_half_of_the_free_space_must_be_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "SCRATCH_BYTES", 1 << 60)

    with pytest.raises(CannotRun, match=r"MiB free, needs .*: the scratch file may take half"):
        Scratch(tmp_path).__enter__()
