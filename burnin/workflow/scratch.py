"""Room for the files of a batch while it is judged."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
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
                made = tempfile.TemporaryDirectory(prefix=PREFIX, dir=place)
                self._roots[is_small] = Path(self._stack.enter_context(made))
            return self._roots[is_small]


@contextmanager
def scratch() -> Iterator[Scratch]:
    with ExitStack() as stack:
        yield Scratch(stack)


def has_room(directory: Path) -> bool:
    try:
        return shutil.disk_usage(directory).free >= FREE_BYTES
    except OSError:
        return False
