"""One process that must run: started, seen to end, started again after a growing pause."""

import os
import signal
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from deploy.one_machine.place import ROOT

FIRST_PAUSE_S = 1.0
# Our death ends our children; setpriv becomes the program that is named after it.
TETHER = ("setpriv", "--pdeathsig", "KILL", "--")
LONGEST_PAUSE_S = 60.0
STEADY_S = 60.0  # who ran for that long did not end because of how it was started


@dataclass(frozen=True)
class Program:
    """A command. What it says goes to `log`; if it `speaks`, its standard output to ours."""

    name: str
    argv: tuple[str, ...]
    environment: Mapping[str, str]
    log: Path
    speaks: bool = False


class Pauses:
    """How long to wait before something that ended is started again. Times are monotonic."""

    def __init__(self) -> None:
        self._next_s = FIRST_PAUSE_S

    def after_an_end(self, *, ran_s: float) -> float:
        """Return the pause in seconds: twice the last one, or the first after a steady run."""
        if ran_s >= STEADY_S:
            self._next_s = FIRST_PAUSE_S
        pause_s, self._next_s = self._next_s, min(2 * self._next_s, LONGEST_PAUSE_S)
        return pause_s


class Child:
    """A program's process, in a session of its own: the terminal's Ctrl-C is ours to hand on."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.process: subprocess.Popen[bytes] | None = None
        self.started_at = 0.0
        self.due_at: float | None = None  # when it is to be started again
        self._pauses = Pauses()

    def start(self, now: float) -> int:
        """Start it and return its pid."""
        self.started_at, self.due_at = now, None
        with self.program.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*TETHER, *self.program.argv],
                cwd=ROOT,
                env=dict(self.program.environment),
                stdin=subprocess.DEVNULL,
                stdout=None if self.program.speaks else log,
                stderr=log,
                start_new_session=True,
            )
        return self.process.pid

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def note_end(self, now: float) -> float:
        """Plan the next start of a process that has ended; return the pause before it."""
        pause_s = self._pauses.after_an_end(ran_s=now - self.started_at)
        self.due_at = now + pause_s
        return pause_s

    def ask_to_end(self) -> None:
        if self.process is not None and self.is_running:
            self.process.send_signal(signal.SIGTERM)
            self.process.send_signal(signal.SIGCONT)  # a stopped one would never see the request

    def kill(self) -> None:
        """End it and what it started in its session."""
        if self.process is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
