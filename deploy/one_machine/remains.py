"""What one start left in the process table: recorded while it runs, found again by evidence."""

import json
import os
import signal
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from deploy.cluster import processes
from deploy.cluster.layout import write_whole

START_TIME = 19  # its place in /proc/<pid>/stat, counted from the state
END_S = 5.0


@dataclass(frozen=True)
class Start:
    """One start, and pid and start time (in ticks) of its processes.

    Every process holds the `token` in its environment. `began_at` is seconds since the epoch.
    """

    token: str
    url: str
    began_at: float
    supervisor: tuple[int, int]
    children: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    def save(self, path: Path) -> None:
        write_whole(path, json.dumps(asdict(self), indent=2) + "\n", mode=0o600)


def load(path: Path) -> Start | None:
    """Return the newest start that was recorded; None where there is none that can be read."""
    try:
        document: dict[str, Any] = json.loads(path.read_text())
        pairs = {name: tuple(pair) for name, pair in document["children"].items()}
        return Start(**{**document, "supervisor": tuple(document["supervisor"]), "children": pairs})
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def identity(pid: int) -> tuple[int, int]:
    """Return pid and start time, which no later process of that pid shares; 0 if it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return pid, 0
    return pid, int(stat.rpartition(")")[2].split()[START_TIME])


def marked(token: str) -> Iterator[int]:
    """Yield the live processes, but for this one, whose environment holds the token."""
    wanted = token.encode()
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal() and int(entry.name) != os.getpid():
            with suppress(OSError):  # it has just ended, or is another user's
                if wanted in (entry / "environ").read_bytes():
                    yield int(entry.name)


def clear(start: Start) -> list[int]:
    """Kill all that is left of a start whose supervisor is gone; return the pids."""
    recorded = [pair[0] for pair in start.children.values() if pair == identity(pair[0])]
    ended = set(recorded)
    kill(recorded)
    return sorted(ended | end_marked(start.token))


def end_marked(token: str) -> set[int]:
    """Kill until nothing holds the token; return the pids."""
    ended: set[int] = set()

    def none_left() -> bool:
        found = list(marked(token))
        ended.update(found)
        kill(found)
        return not any(map(processes.is_alive, found))

    processes.wait_until(none_left, timeout_s=END_S)
    return ended


def kill(pids: list[int]) -> None:
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
