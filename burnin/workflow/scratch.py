"""Room for the files of a batch while it is judged."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

PREFIX = "burnin-collect-"
MEMORY = Path("/dev/shm")
SMALL_BYTES = 4 << 20
FREE_BYTES = 4 << 30


class Scratch:
    """Directories below one that goes when the batch is done.

    Those of small attempts lie in memory, if there is plenty: on a busy disk each costs more
    than to judge what is in it.
    """

    def __init__(self, large: Path, small: Path) -> None:
        self._large, self._small = large, small

    def directory(self, name: str, size_bytes: int) -> Path:
        """Make an empty directory for so much."""
        path = (self._small if size_bytes <= SMALL_BYTES else self._large) / name
        path.mkdir()
        return path


@contextmanager
def scratch() -> Iterator[Scratch]:
    with ExitStack() as stack:
        large = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=PREFIX)))
        small = large
        if has_room(MEMORY):
            temporary = tempfile.TemporaryDirectory(prefix=PREFIX, dir=MEMORY)
            small = Path(stack.enter_context(temporary))
        yield Scratch(large, small)


def has_room(directory: Path) -> bool:
    try:
        return shutil.disk_usage(directory).free >= FREE_BYTES
    except OSError:
        return False
