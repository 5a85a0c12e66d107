"""Which of NVIDIA's Xids accuse the hardware: NVIDIA's catalogue of actions, as OCI ships it.

An Xid that the catalogue does not know accuses the hardware until somebody has looked it up.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from burnin.hardware_tests.parsers.kernel_faults import SxidEvent
from burnin.hardware_tests.parsers.kernel_log import XidEvent

# What an application alone can cause (RESTART_APP), less 94: a contained ECC error is one of the
# memory, whoever met it (azurehpc-health-checks NHC2012).
_OF_APPLICATIONS = frozenset(
    {8, 11, 13, 25, 31, 32, 39, 40, 41, 60, *range(68, 73), 75, 76, 77, 80, *range(82, 87), 88}
    | {89, *range(96, 106), *range(126, 136), 139}
)
# Under our own programs these are suspicious: once is shown, twice is a fault.
_SUSPICIOUS = frozenset({13, 31})
# IGNORE, UPDATE_SWFW (78) and power smoothing (162 to 164). 63 (a row was remapped) and 92 (many
# corrected errors) are warnings; pending remaps have a check of their own.
_HARMLESS = frozenset(
    {14, 37, 38, 43, 44, 63, 66, 67, 78, 92, 93, 106, 107, 108, 121, 137, 141, 152, 153, 157}
    | {160, 161, 162, 163, 164}
)
_RECOVERY = 154  # says in words what is due: a reset, a reboot, a drain, or nothing any more
# What the catalogue has done about each; a second time after that is an RMA.
_DUE = {
    **dict.fromkeys(
        (46, 62, 64, 95, 109, 110, 119, 120, 136, 140, 143, 155, 156, 158), "reset the GPU"
    ),
    **dict.fromkeys((48, 171, 172), "reset the GPU, then read its remapped rows"),
    79: "power-cycle the node; if it comes back, reseat or replace the GPU",
    **dict.fromkeys((74, *range(144, 151)), "look at the other end of the NVLink, reseat"),
    54: "look at the GPU's auxiliary power",
    **dict.fromkeys((151, 168), "reboot the node"),
}
_NOTHING_IS_DUE = re.compile(r" to (?:0x[0-9a-f]+ )?\(None\)\W*$")


def faults(xids: Sequence[XidEvent]) -> tuple[XidEvent, ...]:
    """Return the events that accuse the hardware."""
    met = Counter(event.xid for event in xids if event.xid in _SUSPICIOUS)
    return tuple(event for event in xids if _accuses(event, met))


def excused(xids: Sequence[XidEvent]) -> tuple[XidEvent, ...]:
    """Return the events that an application can cause, or that are only worth knowing."""
    accused = faults(xids)
    return tuple(event for event in xids if event not in accused)


def _accuses(event: XidEvent, met: Counter[int]) -> bool:
    if event.xid == _RECOVERY:
        return _NOTHING_IS_DUE.search(event.message) is None
    if event.xid in _OF_APPLICATIONS:
        return met[event.xid] > 1
    return event.xid not in _HARMLESS


def told(event: XidEvent) -> str:
    """Return the kernel's words, and what is due by the catalogue where it says so."""
    due = _DUE.get(event.xid)
    return f"{event.message} [{due}]" if due else event.message


def fatal_sxids(sxids: Sequence[SxidEvent]) -> tuple[SxidEvent, ...]:
    """Return the first line of each error that NVSwitch calls fatal, or does not rate at all.

    An error is told in several lines of one number; only the first of them rates it.
    """
    rated = {(event.pci, event.sxid) for event in sxids if event.fatal is not None}
    unrated = {
        (event.pci, event.sxid): event
        for event in reversed(sxids)
        if (event.pci, event.sxid) not in rated
    }
    return (*(event for event in sxids if event.fatal), *unrated.values())
