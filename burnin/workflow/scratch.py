"""Room for the files of a batch while it is judged."""

import fcntl
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Lock

PREFIX = "burnin-collect-"
LOCK = ".lock"
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
                place = MEMORY if is_small and has_room(MEMORY) else _temporary()
                self._roots[is_small] = self._stack.enter_context(_locked_directory(place))
            return self._roots[is_small]


@contextmanager
def scratch() -> Iterator[Scratch]:
    for place in {MEMORY, _temporary()}:
        remove_orphans(place)
    with ExitStack() as stack:
        yield Scratch(stack)


def remove_orphans(place: Path) -> None:
    """Remove what workers left that were killed: nobody holds the lock beside it any more."""
    for beside in place.glob(f"{PREFIX}*{LOCK}"):
        with suppress(OSError):  # in use, or somebody else is at it
            lock = os.open(beside, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if os.fstat(lock).st_uid == os.geteuid():
                    _remove(beside.with_suffix(""), beside)
            finally:
                os.close(lock)


@contextmanager
def _locked_directory(place: Path) -> Iterator[Path]:
    """Make a directory, with a lock beside it that is held for as long as it is needed."""
    path = place / f"{PREFIX}{secrets.token_hex(8)}"
    beside = path.with_suffix(LOCK)
    lock = os.open(beside, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX)
        except OSError:
            beside.unlink()  # this place knows no locks: nobody may take it for an orphan
        path.mkdir(mode=0o700)
        yield path
    finally:
        _remove(path, beside)
        os.close(lock)


def _remove(path: Path, beside: Path) -> None:
    """What cannot be removed now keeps its lock, by which it is found again."""
    shutil.rmtree(path, ignore_errors=True)
    with suppress(OSError):
        if not path.exists():
            beside.unlink(missing_ok=True)


def _temporary() -> Path:
    return Path(tempfile.gettempdir())


def has_room(directory: Path) -> bool:
    try:
        return shutil.disk_usage(directory).free >= FREE_BYTES
    except OSError:
        return False
