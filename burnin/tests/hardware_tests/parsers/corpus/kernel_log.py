from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.kernel_log import KernelLog
from burnin.tests.hardware_tests.parsers.corpus.comparison import Whole


def as_expected(log: KernelLog) -> dict[str, Any]:
    return {
        "xid_lines": len(log.xids),
        "xid_counts": Whole({str(xid): count for xid, count in log.xid_counts.items()}),
        "distinct_xids": list(log.xid_counts),
        "out_of_memory_lines": log.out_of_memory_lines,
        "oom_kill_lines": log.oom_kill_lines,
        "xids": _first_of_each(log),
    }


def _first_of_each(log: KernelLog) -> list[dict[str, Any]]:
    """Return the first event of each Xid and device: the notes leave out the repeats."""
    first = {(each.xid, each.pci): each for each in reversed(log.xids)}
    return [
        {"xid": each.xid, "pci": each.pci, "pid": each.pid, "process": each.process}
        for each in log.xids
        if first[each.xid, each.pci] is each
    ]
