"""Processes as /proc shows them: the CPU time of some and of all that they have started."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
SESSION, UTIME = 3, 11  # places in /proc/<pid>/stat, counted from the state; four times in a row


def seconds_of_sessions(leaders: Iterable[int]) -> float:
    """Return the CPU seconds of every process in these sessions, ended children included."""
    wanted = set(leaders)
    ticks = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            session, used = _stat(entry)
            ticks += used if session in wanted else 0
    return ticks / TICKS_PER_S


def _stat(entry: Path) -> tuple[int, int]:
    """Return session and ticks; zeros for a process that has just ended."""
    try:
        fields = (entry / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0, 0
    return int(fields[SESSION]), sum(map(int, fields[UTIME : UTIME + 4]))


def end_what_names(directory: Path) -> None:
    """Kill what a bench that was killed itself has left: whose environment names the directory."""
    for pid in _naming(directory):
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def _naming(directory: Path) -> Iterator[int]:
    mark = f"={directory}/".encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            with suppress(OSError):
                if mark in (entry / "environ").read_bytes():
                    yield int(entry.name)
