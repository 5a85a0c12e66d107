"""What is left of a worker that was killed goes with the next batch; that of a living one stays."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from burnin.workflow.scratch import PREFIX, SMALL_BYTES, remove_orphans, scratch

WORKER = """
import time
from burnin.workflow.scratch import SMALL_BYTES, scratch
with scratch() as room:
    for name, size_bytes in (("small", 1), ("large", SMALL_BYTES + 1)):
        directory = room.directory(name, size_bytes)
        (directory / "log").write_text("half of")
        print(directory, flush=True)
    time.sleep(60)
"""


@contextmanager
def worker(temporary: Path) -> Iterator[tuple[subprocess.Popen[str], list[Path]]]:
    """Yield a process that holds a batch's files, and the directories of two attempts."""
    with subprocess.Popen(
        [sys.executable, "-c", WORKER],
        stdout=subprocess.PIPE,
        text=True,
        env={"TMPDIR": str(temporary), "PYTHONPATH": str(Path.cwd())},
    ) as process:
        assert process.stdout is not None
        try:
            yield process, [Path(process.stdout.readline().strip()) for _ in range(2)]
        finally:
            process.kill()
    remove_orphans()


def test_files_of_a_killed_worker_are_removed_and_those_of_a_living_one_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with worker(tmp_path) as (killed, left), worker(tmp_path) as (_, held):
        killed.send_signal(signal.SIGKILL)
        killed.wait()
        assert all(directory.is_dir() for directory in [*left, *held])

        with scratch() as room:
            own = room.directory("own", SMALL_BYTES)

            assert not any(directory.parent.exists() for directory in left)
            assert all((directory / "log").exists() for directory in held)
            assert own.is_dir()
        assert not own.parent.exists()


def test_a_directory_of_another_container_is_left_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    foreign = tmp_path / f"{PREFIX}1-999999999-1-abc"
    foreign.mkdir()

    remove_orphans()

    assert foreign.is_dir()
