"""Room for the files of a batch while it is judged, and what killed workers left of it."""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Lock

PREFIX = "burnin-collect-"
UNLOCKED = "burnin-unlocked-"
LOCK = ".lock"
WORK = ".work"
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
                place = MEMORY if is_small and has_room(MEMORY) else Path(tempfile.gettempdir())
                self._roots[is_small] = self._stack.enter_context(_locked_directory(place))
            return self._roots[is_small]


@contextmanager
def scratch() -> Iterator[Scratch]:
    with ExitStack() as stack:
        yield Scratch(stack)


@contextmanager
def working_on(directory: Path, work: str) -> Iterator[None]:
    """Leave a note beside a directory of `scratch`, should this process be killed at its work.

    Whatever else ends the work ends `scratch` too, and its notes go with it.
    """
    note = directory.parent / WORK
    note.write_text(work)
    yield
    note.unlink()


def left_behind() -> list[str]:
    """Remove what killed processes left on this machine; return the works they were killed at."""
    works = []
    for place in {MEMORY, Path(tempfile.gettempdir())}:
        for directory in place.glob(f"{PREFIX}*"):
            with suppress(OSError):  # its process lives, or another one was quicker
                works += _buried(directory)
    return works


def _buried(directory: Path) -> list[str]:
    if directory.lstat().st_uid != os.geteuid():
        return []
    with _lock_of(directory):
        note = directory / WORK
        works = [note.read_text(errors="replace")] if note.exists() else []
        note.unlink(missing_ok=True)
        shutil.rmtree(directory)
    return works


@contextmanager
def _locked_directory(place: Path) -> Iterator[Path]:
    """Make a directory that is locked as soon as it can be found, as long as this process lives."""
    unlocked = Path(tempfile.mkdtemp(prefix=UNLOCKED, dir=place))
    (unlocked / LOCK).touch()
    with _lock_of(unlocked):
        directory = unlocked.rename(place / unlocked.name.replace(UNLOCKED, PREFIX, 1))
        try:
            yield directory
        finally:
            shutil.rmtree(directory)


@contextmanager
def _lock_of(directory: Path) -> Iterator[None]:
    lock = os.open(directory / LOCK, os.O_RDWR | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(lock)


def has_room(directory: Path) -> bool:
    try:
        return shutil.disk_usage(directory).free >= FREE_BYTES
    except OSError:
        return False
