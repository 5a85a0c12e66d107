"""What is judged leaves nothing on the hub's disks, even if the worker is killed."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from burnin.workflow import scratch as module
from burnin.workflow.scratch import PREFIX, left_behind, scratch, working_on

ROOT = Path(__file__).parents[3]
DIES = """
import os, signal
from pathlib import Path
from burnin.workflow import scratch
scratch.MEMORY = Path({memory!r})
with scratch.scratch() as room:
    for name, size_bytes in (("small", 1), ("large", 1 << 30)):
        directory = room.directory(name, size_bytes)
        (directory / "artifact").write_text("x")
    with scratch.working_on(directory, "its work"):
        os.kill(os.getpid(), signal.{signal})
"""


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Memory and disk of this test alone."""
    found = [tmp_path / "memory", tmp_path / "disk"]
    for place in found:
        place.mkdir()
    monkeypatch.setattr(module, "MEMORY", found[0])
    monkeypatch.setattr("tempfile.tempdir", str(found[1]))
    return found


def end_at_work(places: list[Path], number: str) -> None:
    program = DIES.format(memory=str(places[0]), signal=number)
    environment = {**os.environ, "TMPDIR": str(places[1])}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE, check=False)
    assert done.returncode == -signal.Signals[number], done.stderr


def left_in(places: list[Path]) -> list[str]:
    return [path.name for place in places for path in place.iterdir()]


def test_what_is_done_leaves_nothing(places: list[Path]) -> None:
    with scratch() as room:
        small, large = room.directory("a", 1), room.directory("b", 1 << 30)
        with working_on(small, "w"):
            assert left_in(places)
        assert (small.is_dir(), large.is_dir()) == (True, True)

    assert left_in(places) == []
    assert left_behind() == []


def test_what_a_killed_process_left_is_removed_and_its_work_told_once(places: list[Path]) -> None:
    end_at_work(places, "SIGKILL")
    assert len(left_in(places)) == 2

    assert left_behind() == ["its work"]
    assert left_in(places) == []
    assert left_behind() == []


def test_a_process_that_ends_with_an_error_cleans_up_itself(places: list[Path]) -> None:
    end_at_work(places, "SIGINT")

    assert left_in(places) == []


def test_what_a_living_process_holds_stays(places: list[Path]) -> None:
    with scratch() as room:
        directory = room.directory("a", 1)
        with working_on(directory, "w"):
            assert left_behind() == []
            assert directory.is_dir()


def test_directories_of_others_are_not_touched(
    places: list[Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    end_at_work(places, "SIGKILL")
    before = left_in(places)

    monkeypatch.setattr("os.geteuid", lambda: os.getuid() + 1)

    assert left_behind() == []
    assert left_in(places) == before


def test_a_directory_that_is_not_ours_by_its_look_is_left(places: list[Path]) -> None:
    (places[1] / f"{PREFIX}odd").mkdir()

    assert left_behind() == []
    assert left_in(places) == [f"{PREFIX}odd"]
