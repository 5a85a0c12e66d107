"""What is left of a worker that was killed goes with the next batch; that of a living one stays."""

from __future__ import annotations

import errno
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from burnin.workflow.scratch import LOCK, MEMORY, PREFIX, SMALL_BYTES, remove_orphans, scratch

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
            process.wait()
            remove_orphans(MEMORY)


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


@pytest.mark.parametrize("name", [PREFIX, f"{PREFIX}1-x", f"{PREFIX}no-lock"])
def test_what_has_no_lock_beside_it_is_not_ours_to_remove(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()

    remove_orphans(tmp_path)

    assert (tmp_path / name).is_dir()


def test_a_lock_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    target, orphan = tmp_path / "target", tmp_path / f"{PREFIX}x"
    target.touch()
    orphan.mkdir()
    orphan.with_suffix(LOCK).symlink_to(target)

    remove_orphans(tmp_path)

    assert target.exists()
    assert orphan.is_dir()


def test_a_place_without_locks_serves_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with scratch() as room:
        with monkeypatch.context() as without_locks:
            without_locks.setattr("burnin.workflow.scratch.fcntl.flock", refuse)
            held = room.directory("large", SMALL_BYTES + 1)
        with scratch():
            assert held.is_dir()
    assert list(tmp_path.iterdir()) == []
