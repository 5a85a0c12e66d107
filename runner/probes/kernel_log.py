"""What the kernel complained of since this was opened, from /dev/kmsg.

By position, not by time: the log's clock drifts from CLOCK_MONOTONIC over weeks of uptime, and a
window cut by it could miss the very errors it is for.
"""

from __future__ import annotations

import os
import re
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from runner.probes.node import Node

DEVICE = "/dev/kmsg"
ERROR = 3  # syslog's "err"; smaller is worse
# Drivers tell of these as warnings, or as mere information.
FAULT = re.compile(
    r"NVRM: Xid \(|SXid \(|\bAER: .*error|PCIe Bus Error:|\bEDAC .*(\b[CU]E\b|ERROR)"
)
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
            found = errors_in(records_of(self._file))
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


def records_of(file: int) -> Iterable[str]:
    """Yield the log's records up to its end. One that is overwritten under us raises OSError."""
    while file >= 0:
        try:
            record = os.read(file, RECORD_BYTES)
        except BlockingIOError:
            return
        if not record:
            return
        yield record.decode("utf-8", "replace")


def watch(node: Node) -> Callable[[], Any]:
    """Open the log; what ends the watch keeps the lines as evidence, in kernel-log.txt."""
    log = KernelLog()

    def end() -> dict[str, Any]:
        found = log.errors()
        log.close()
        lines = "".join(f"{line}\n" for line in found.get("lines", []))
        node.workspace_manager.write_file("kernel-log.txt", lines)
        return found

    return end


def errors_in(records: Iterable[str]) -> list[str]:
    """Return the first line of each record of the kernel's own that tells of an error."""
    lines = [record.splitlines()[0] for record in records if record.strip()]
    return [line for line in lines if _is_kernel_error(line)]


def _is_kernel_error(line: str) -> bool:
    """Priority err or worse, or a fault of the hardware at any.

    The number before the first comma is facility * 8 + priority; the kernel's facility is 0.
    """
    code = line.split(",", 1)[0]
    if not code.isdecimal():
        raise OSError(0, f"a record without priority: {line[:80]}")
    if int(code) >> 3 != 0:
        return False
    return int(code) & 7 <= ERROR or FAULT.search(line) is not None
