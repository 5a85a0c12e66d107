"""What the kernel complained of while the run lasted."""

from __future__ import annotations

from pydantic import Field

from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers import kernel_log
from burnin.hardware_tests.parsers.kernel_faults import EdacEvent, MachineCheck
from burnin.hardware_tests.parsers.kernel_log import KernelLog, XidEvent
from burnin.hardware_tests.single_node.health import xid_policy
from burnin.hardware_tests.single_node.health.section import Found, FromNode, Reader, Section


class _Complaints(FromNode):
    """Every line of priority "err" or worse, and faults of the hardware at any priority.

    NVIDIA's driver and others tell of those as warnings. `lines` may be cut, `count` is not.
    """

    lines: list[str]
    count: int = Field(ge=0)


def errors(section: Section) -> Found:
    """Count all complaints but those that the Xid policy excuses."""
    found, log = _read(section)
    quiet = {event.message for event in xid_policy.excused(log.xids)}
    fatal = {event.message for event in xid_policy.fatal_sxids(log.sxids)}
    quiet |= {event.message for event in log.sxids} - fatal
    words = [record.message for record in log.records]
    loud = [message for message in words if message not in quiet]
    return found.count - (len(words) - len(loud)), "; ".join(loud)


def fault_xids(section: Section) -> Found:
    return _listed(section, [xid_policy.told(each) for each in _accusing(section)])


def _accusing(section: Section) -> tuple[XidEvent, ...]:
    return xid_policy.faults(_read(section)[1].xids)


def application_xids(section: Section) -> Found:
    return _listed(section, [each.message for each in xid_policy.excused(_read(section)[1].xids)])


def fatal_sxids(section: Section) -> Found:
    events = xid_policy.fatal_sxids(_read(section)[1].sxids)
    return _listed(section, [event.message for event in events])


def machine_checks(section: Section) -> Found:
    """Count machine checks and memory errors that the CPU could not correct."""
    log = _read(section)[1]
    events: tuple[MachineCheck | EdacEvent, ...] = (*log.machine_checks, *log.edac_events)
    uncorrected = [event.message for event in events if not event.corrected]
    return _listed(section, uncorrected)


def io_errors(section: Section) -> Found:
    events = _read(section)[1].io_errors
    return _listed(section, [event.message for event in events])


def _read(section: Section) -> tuple[_Complaints, KernelLog]:
    found = section.shaped(_Complaints)
    if found.count < len(found.lines) or (found.count and not found.lines):
        raise NotMeasured(f"{found.count} kernel errors counted, {len(found.lines)} listed")
    text = "".join(f"{line}\n" for line in found.lines)
    return found, section.once("log", lambda: kernel_log.parse(text))


def _listed(section: Section, messages: list[str]) -> Found:
    """Count what was listed. Nothing among lines of which some are lost is no clean log."""
    found = section.shaped(_Complaints)
    if not messages and found.count > len(found.lines):
        raise NotMeasured(
            f"the kernel wrote {found.count} complaints, of which {len(found.lines)} were kept"
        )
    return len(messages), "; ".join(messages)


READERS: dict[str, Reader] = {
    "kernel_errors": errors,
    "fault_xids": fault_xids,
    "application_xids": application_xids,
    "fatal_sxids": fatal_sxids,
    "machine_checks": machine_checks,
    "io_errors": io_errors,
}
