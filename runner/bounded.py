"""Output of any length in a file of bounded size: its head, a marker, its tail."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

MARKER_BYTES = 128
TAIL_BYTES = 2048


class BoundedFile:
    """The head is on disk at once, so that it can be followed; the tail follows on `close`.

    Holds at most the size limit in memory.
    """

    def __init__(self, path: Path, *, limit_bytes: int) -> None:
        self.path = path
        self._file = path.open("wb")
        self._head_left = limit_bytes // 2
        self._tail_bytes = limit_bytes - self._head_left - MARKER_BYTES
        self._tail = bytearray()
        self._dropped_bytes = 0

    @property
    def truncated(self) -> bool:
        return self._dropped_bytes + max(len(self._tail) - self._tail_bytes, 0) > 0

    def write(self, data: bytes) -> None:
        if self._head_left:
            self._file.write(data[: self._head_left])
            self._file.flush()
            data, self._head_left = (
                data[self._head_left :],
                max(self._head_left - len(data), 0),
            )
        self._tail += data
        if len(self._tail) > 2 * self._tail_bytes:
            self._trim()

    def close(self) -> None:
        if self._file.closed:
            return
        with self._file:
            self._trim()
            if self._dropped_bytes:
                marker = f"\n[runner: {self._dropped_bytes} bytes dropped here]\n"
                self._file.write(marker.encode())
            self._file.write(self._tail)

    def _trim(self) -> None:
        excess = max(len(self._tail) - self._tail_bytes, 0)
        del self._tail[:excess]
        self._dropped_bytes += excess


class Tail:
    """The last bytes of a stream, for a sentence about what went wrong."""

    def __init__(self) -> None:
        self._data = b""

    def write(self, data: bytes) -> None:
        self._data = (self._data + data)[-TAIL_BYTES:]

    @property
    def text(self) -> str:
        return self._data.decode("utf-8", "replace").strip()
