"""What a killed start has left is found by evidence, and nothing else is touched."""

import os
import secrets
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from deploy.one_machine import remains
from deploy.one_machine.remains import Start

Spawn = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def spawn() -> Iterator[Spawn]:
    """Start a process that sleeps, with these variables; it is gone when the test ends."""
    started: list[subprocess.Popen[bytes]] = []

    def start(**environment: str) -> "subprocess.Popen[bytes]":
        started.append(subprocess.Popen(["/bin/sleep", "600"], env=environment))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()


def a_start(token: str, **children: tuple[int, int]) -> Start:
    return Start(token, "http://127.0.0.1:8000", 0.0, remains.identity(os.getpid()), children)


def test_a_start_is_read_back_as_it_was_recorded(tmp_path: Path) -> None:
    start = a_start("token", web=(12, 34))

    start.save(tmp_path / "running.json")

    assert remains.load(tmp_path / "running.json") == start
    assert (tmp_path / "running.json").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("text", ["", "{", "[]", '{"token": "x"}', '{"children": 1}'])
def test_a_torn_record_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "running.json").write_text(text)

    assert remains.load(tmp_path / "running.json") is None


def test_no_record_is_none(tmp_path: Path) -> None:
    assert remains.load(tmp_path / "running.json") is None


def test_what_was_recorded_is_ended_and_a_later_process_of_its_pid_is_not(spawn: Spawn) -> None:
    recorded, stranger = spawn(), spawn()
    pid, started = remains.identity(stranger.pid)
    start = a_start(
        secrets.token_hex(16), web=remains.identity(recorded.pid), worker=(pid, started - 1)
    )

    ended = remains.clear(start)

    assert ended == [recorded.pid]
    assert recorded.wait(timeout=5) == -9
    assert stranger.poll() is None


def test_what_holds_the_token_is_ended_though_nobody_recorded_it(spawn: Spawn) -> None:
    token = secrets.token_hex(16)
    marked, stranger = spawn(ANY_NAME=token), spawn(ANY_NAME="another")

    ended = remains.clear(a_start(token))

    assert ended == [marked.pid]
    assert marked.wait(timeout=5) == -9
    assert stranger.poll() is None


def test_a_process_that_is_gone_has_no_start_time() -> None:
    process = subprocess.Popen(["/bin/true"])
    process.wait()

    assert remains.identity(process.pid) == (process.pid, 0)
