"""A file that is there whole, or not at all."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO


@contextmanager
def writing_whole(path: Path) -> Iterator[IO[bytes]]:
    """Yield the new file; it is removed again if the block fails."""
    with path.open("wb") as file:
        try:
            yield file
        except BaseException:
            path.unlink()
            raise
