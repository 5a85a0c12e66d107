"""What the kernel complained of since this was opened, from /dev/kmsg.

By position, not by time: the log's clock drifts from CLOCK_MONOTONIC over weeks of uptime, and a
window cut by it could miss the very errors it is for.
"""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

DEVICE = "/dev/kmsg"
ERROR = 3  # syslog's "err"; smaller is worse
RECORD_BYTES = 8192  # the kernel hands out one record a read, never longer than this
LINES_KEPT = 1000


class KernelLog:
    """Open it before the workload, ask after. What cannot be read is an error, never "nothing"."""

    def __init__(self, device: str = DEVICE) -> None:
        self._opened, self._error, self._file = time.monotonic(), "", -1
        try:
            self._file = os.open(device, os.O_RDONLY | os.O_NONBLOCK)
            os.lseek(self._file, 0, os.SEEK_END)
        except OSError as error:
            self._error = f"{device} cannot be read: {error.strerror}"

    def errors(self) -> dict[str, Any]:
        """Return lines, count and window_s, or {"error": why it cannot be known}."""
        try:
            found = errors_in(self._records())
        except OSError as error:
            self._error = f"the kernel log cannot be read: {error.strerror}"
        if self._error:
            return {"error": self._error}
        window_s = round(time.monotonic() - self._opened, 3)
        return {"lines": found[:LINES_KEPT], "count": len(found), "window_s": window_s}

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def _records(self) -> Iterable[str]:
        """Yield what is new. A log that was overwritten under us raises OSError (EPIPE)."""
        while self._file >= 0:
            try:
                record = os.read(self._file, RECORD_BYTES)
            except BlockingIOError:
                return
            if not record:
                return
            yield record.decode("utf-8", "replace")


def errors_in(records: Iterable[str]) -> list[str]:
    """Return the first line of each record that the kernel itself gave priority err or worse."""
    lines = [record.splitlines()[0] for record in records if record.strip()]
    return [line for line in lines if _is_kernel_error(line)]


def _is_kernel_error(line: str) -> bool:
    """The number before the first comma is facility * 8 + priority; the kernel's facility is 0."""
    code = line.split(",", 1)[0]
    if not code.isdecimal():
        raise OSError(0, f"a record without priority: {line[:80]}")
    return int(code) >> 3 == 0 and int(code) & 7 <= ERROR
