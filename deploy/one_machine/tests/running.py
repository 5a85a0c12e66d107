"""`make run` as whoever types it sees it: its lines, its processes, its end."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from deploy.cluster import ports, processes
from deploy.one_machine import remains
from deploy.one_machine.place import ROOT

MEMORY_MB = "512"
Answer = TypeVar("Answer")


@dataclass
class Running:
    """One start in `home`. `output` holds what it has said so far."""

    home: Path
    process: subprocess.Popen[bytes]
    output: Path

    @property
    def said(self) -> str:
        return self.output.read_text()

    @property
    def token(self) -> str:
        start = remains.load(self.home / "running.json")
        assert start is not None
        return start.token

    def wait_for(self, pattern: str, *, for_s: float) -> re.Match[str]:
        found = wait(lambda: re.search(pattern, self.said, re.MULTILINE), for_s, self.has_ended)
        assert found, f"{pattern!r} was not said within {for_s} s: {self.said}{self._logs()}"
        return found

    def wait_for_process(self, name: str, *, for_s: float) -> None:
        """Wait until a process of that name holds our token, whatever its parents are."""
        found = wait(lambda: name in names(remains.marked(self.token)), for_s, self.has_ended)
        assert found, f"{name} was not seen within {for_s} s: {self.said}{self._logs()}"

    def wait_for_run(self, state: str, *, for_s: float) -> None:
        """Wait until the hub has a run in that state, by its database."""

        def count() -> int:
            with sqlite3.connect(f"file:{self.home}/hub/fleet.sqlite3?mode=ro", uri=True) as rows:
                query = "SELECT count(*) FROM burnin_testrun WHERE state = ?"
                return int(rows.execute(query, (state,)).fetchone()[0])

        found = wait(count, for_s, self.has_ended)
        assert found, f"no run was {state} within {for_s} s: {self.said}{self._logs()}"

    def end_by_force(self, name: str) -> None:
        """Kill those of our processes that have this name, as a crash would."""
        for pid in list(remains.marked(self.token)):
            if name in names(iter([pid])):
                os.kill(pid, signal.SIGKILL)

    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def _logs(self) -> str:
        logs = sorted((self.home / "log").glob("*.log"))
        return "".join(f"\n--- {log.name}\n{log.read_text()[-2000:]}" for log in logs)

    def press_ctrl_c(self, *, for_s: float) -> tuple[int | None, float]:
        """Return its exit code, None if it goes on, and how many seconds it took."""
        began = time.monotonic()
        self.process.send_signal(signal.SIGINT)
        wait(self.has_ended, for_s, lambda: False)
        return self.process.poll(), time.monotonic() - began

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def start(home: Path, *options: str) -> Running:
    """Type the command, with its output in a file of its own beside `home`."""
    home.mkdir(exist_ok=True)
    output = home.parent / f"said-{len(list(home.parent.glob('said-*')))}"
    port = ports.reserve(home, 1).start  # another checkout may choose one at this moment
    words = ["--directory", str(home), "--port", str(port), "--memory-mb", MEMORY_MB, *options]
    with output.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "deploy.one_machine", *words],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    return Running(home, process, output)


def manage(home: Path, *arguments: str) -> str:
    """Run a management command on the installation's database, as an operator may beside it."""
    done = subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=ROOT,
        env={**os.environ, "FLEET_VAR_DIR": str(home / "hub")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout


def wait(holds: Callable[[], Answer], for_s: float, give_up: Callable[[], bool]) -> Answer:
    """Ask until the answer is true or it is time to give up; return what it is then."""
    processes.wait_until(lambda: give_up() or bool(holds()), timeout_s=for_s)
    return holds()


def names(pids: Iterator[int]) -> set[str]:
    found = set()
    for pid in pids:
        with suppress(OSError):
            found.add(Path(f"/proc/{pid}/comm").read_text().strip())
    return found
