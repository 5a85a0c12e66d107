"""What the kernel said at boot of PCIe links that are slower than their devices."""

from __future__ import annotations

import os

from runner.endings import CannotRun
from runner.probes import kernel_log

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.probes.node import Node

LIMITED = "available PCIe bandwidth, limited by"


def limited_links(_node: Node) -> dict[str, Any]:
    """Return the kernel's words. Raises CannotRun where the log does not reach back to the boot.

    Records are numbered from 0: where the first is gone, others are too.
    """
    lines = [record.splitlines()[0] for record in _whole_log() if record.strip()]
    first = lines[0].split(",")[1] if lines and lines[0].count(",") else "none"
    if first != "0":
        raise CannotRun(f"the kernel log has lost its beginning: its first record is {first}")
    return {"lines": [line.partition(";")[2] for line in lines if LIMITED in line]}


def _whole_log() -> list[str]:
    try:
        file = os.open(kernel_log.DEVICE, os.O_RDONLY | os.O_NONBLOCK)
        try:
            os.lseek(file, 0, os.SEEK_SET)
            return list(kernel_log.records_of(file))
        finally:
            os.close(file)
    except OSError as error:
        raise CannotRun(f"{kernel_log.DEVICE} cannot be read: {error.strerror}") from error
