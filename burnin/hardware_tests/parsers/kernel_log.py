"""Kernel messages: /dev/kmsg records, `dmesg` in its forms, journal and syslog lines."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from burnin.hardware_tests.parsers import kernel_faults
from burnin.hardware_tests.parsers.kernel_faults import (
    EdacEvent,
    IoError,
    MachineCheck,
    SxidEvent,
)
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

ERROR_PRIORITY = 3  # syslog "err"; smaller is worse

_LEVELS = ("emerg", "alert", "crit", "err", "warn", "notice", "info", "debug")

# Tried in this order; each leaves the message in group "message". Numbers have an end: a giant
# one is no time, and turning it into a number would raise.
_FORMS = tuple(
    re.compile(form)
    for form in (
        r"(?P<code>\d{1,9}),\d+,(?P<monotonic_us>\d{1,18}),[^;]*;(?P<message>.*)",
        r"[a-z0-9]+\s*:(?P<level>[a-z]+)\s*: (?:\[[^\]]*\]|\S+) (?P<message>.*)",
        r"(?:<(?P<code>\d{1,9})>)?\[\s*(?P<monotonic_s>\d{1,12}\.\d+)\] (?P<message>.*)",
        r"\[[A-Z][a-z]{2} [^\]]+\] (?P<message>.*)",
        r"(?:[A-Z][a-z]{2} +\d+ [\d:]{8}|\d{4}-\d\d-\d\dT\S+) \S+ kernel: (?P<message>.*)",
        r"(?:<(?P<code>\d{1,9})>)?(?P<message>.*)",
    )
)

_XID = re.compile(r"NVRM: Xid \((?:PCI:)?(?P<pci>[0-9a-fA-F:.]+)\): (?P<xid>\d{1,9})(?P<rest>.*)")
_XID_PROCESS = re.compile(r"pid='?(?P<pid>\d{1,9})'?(?:, name=(?P<name>[^,]+))?")


@dataclass(frozen=True)
class KernelRecord:
    """One message. `priority` is syslog's 0 (emerg) to 7 (debug), None where the line has none.

    `monotonic_s` counts seconds since boot, None where the line has none.
    """

    message: str
    priority: int | None
    monotonic_s: float | None


@dataclass(frozen=True)
class XidEvent:
    """NVIDIA's own error number, the device it names, and the process where it names one."""

    xid: int
    pci: str
    pid: int | None
    process: str | None
    message: str


@dataclass(frozen=True)
class KernelLog:
    """Every message in order. An empty log is a log: nothing was reported."""

    records: tuple[KernelRecord, ...]
    xids: tuple[XidEvent, ...]
    xid_counts: dict[int, int]
    sxids: tuple[SxidEvent, ...]
    machine_checks: tuple[MachineCheck, ...]
    edac_events: tuple[EdacEvent, ...]
    io_errors: tuple[IoError, ...]
    errors: tuple[KernelRecord, ...]
    out_of_memory_lines: int
    oom_kill_lines: int


def parse(text: str) -> KernelLog:
    """Return what the kernel said; raise ParseError on text that is no log."""
    if "\0" in text:
        raise ParseError("the kernel log holds NUL bytes", kind=RefusalKind.MALFORMED)
    # A kmsg record's continuation lines (" KEY=value") start with a space: they are no message.
    records = tuple(
        record_of(line)
        for line in text.splitlines()
        if line.strip() and not re.match(r" [A-Z_]+=", line)
    )
    messages = [record.message for record in records]
    xids = tuple(filter(None, map(_xid, messages)))
    return KernelLog(
        records=records,
        xids=xids,
        xid_counts=dict(sorted(Counter(event.xid for event in xids).items())),
        sxids=tuple(filter(None, map(kernel_faults.sxid, messages))),
        machine_checks=tuple(filter(None, map(kernel_faults.machine_check, messages))),
        edac_events=tuple(filter(None, map(kernel_faults.edac, messages))),
        io_errors=tuple(filter(None, map(kernel_faults.io_error, messages))),
        errors=tuple(record for record in records if _is_error(record)),
        out_of_memory_lines=_count(records, "Out of memory:"),
        oom_kill_lines=_count(records, "oom-kill:"),
    )


def record_of(line: str) -> KernelRecord:
    """Read one line in whichever form it has; what no form fits is all message."""
    for form in _FORMS:
        found = form.fullmatch(line.rstrip())
        if found:
            parts = found.groupdict()
            return KernelRecord(parts["message"], _priority(parts), _monotonic_s(parts))
    return KernelRecord(line.rstrip(), None, None)


def _priority(parts: dict[str, str | None]) -> int | None:
    if code := parts.get("code"):
        return int(code) & 7  # the upper bits are the facility
    level = parts.get("level")
    return _LEVELS.index(level) if level in _LEVELS else None


def _monotonic_s(parts: dict[str, str | None]) -> float | None:
    if microseconds := parts.get("monotonic_us"):
        return int(microseconds) / 1e6
    seconds = parts.get("monotonic_s")
    return float(seconds) if seconds else None


def _is_error(record: KernelRecord) -> bool:
    return record.priority is not None and record.priority <= ERROR_PRIORITY


def _count(records: tuple[KernelRecord, ...], words: str) -> int:
    return sum(words in record.message for record in records)


def _xid(message: str) -> XidEvent | None:
    found = _XID.search(message)
    if found is None:
        return None
    process = _XID_PROCESS.search(found["rest"])
    return XidEvent(
        xid=int(found["xid"]),
        pci=found["pci"],
        pid=int(process["pid"]) if process else None,
        process=process["name"] if process else None,
        message=message,
    )
