"""Room for the files of a batch while it is judged."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Lock

PREFIX = "burnin-collect-"
MEMORY = Path("/dev/shm")
SMALL_BYTES = 4 << 20
FREE_BYTES = 4 << 30


class Scratch:
    """Directories that go when the batch is done. They belong to the `scratch` that made this.

    Those of small attempts lie in memory, if there is plenty: on a busy disk each costs more
    than to judge what is in it.
    """

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._lock = Lock()
        self._roots: dict[bool, Path] = {}

    def directory(self, name: str, size_bytes: int) -> Path:
        """Make an empty directory for so much. Threads may share this."""
        path = self._root(is_small=size_bytes <= SMALL_BYTES) / name
        path.mkdir()
        return path

    def _root(self, *, is_small: bool) -> Path:
        with self._lock:
            if is_small not in self._roots:
                place = MEMORY if is_small and has_room(MEMORY) else None
                made = tempfile.TemporaryDirectory(prefix=_prefix(), dir=place)
                self._roots[is_small] = Path(self._stack.enter_context(made))
            return self._roots[is_small]


@contextmanager
def scratch() -> Iterator[Scratch]:
    remove_orphans()
    with ExitStack() as stack:
        yield Scratch(stack)


def remove_orphans() -> None:
    """Remove what workers left that were killed. Those of other containers are left alone."""
    for place in {MEMORY, Path(tempfile.gettempdir())}:
        for path in place.glob(f"{PREFIX}{_pid_namespace()}-*"):
            pid, started_at = path.name.removeprefix(PREFIX).split("-")[1:3]
            if _started_at(pid) != started_at:
                shutil.rmtree(path, ignore_errors=True)


def _prefix() -> str:
    """Name the process that a directory belongs to: process ids alone are used again."""
    pid = str(os.getpid())
    return f"{PREFIX}{_pid_namespace()}-{pid}-{_started_at(pid)}-"


def _pid_namespace() -> int:
    return Path("/proc/self/ns/pid").stat().st_ino


def _started_at(pid: str) -> str:
    """Return when a process began, in clock ticks since boot; "" if there is none."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    return ""


def has_room(directory: Path) -> bool:
    try:
        return shutil.disk_usage(directory).free >= FREE_BYTES
    except OSError:
        return False
