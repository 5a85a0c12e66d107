from __future__ import annotations

import pytest

from burnin.hardware_tests.parsers import kernel_log
from burnin.hardware_tests.parsers.refusal import ParseError

XID = "NVRM: Xid (PCI:0000:9b:00): 79, pid=4711, name=python3, GPU has fallen off the bus."


@pytest.mark.parametrize(
    ("line", "priority", "monotonic_s"),
    [
        (f"3,1234,98765432,-;{XID}", 3, 98.765432),
        (f"30,1234,98765432,-;{XID}", 6, 98.765432),
        (f"kern  :err   : 2026-01-21T04:41:44,283302+00:00 {XID}", 3, None),
        (f"kern  :crit  : [Sun Feb 23 16:24:18 2026] {XID}", 2, None),
        (f"[  123.456789] {XID}", None, 123.456789),
        (f"<4>[  123.456789] {XID}", 4, 123.456789),
        (f"[Sun Feb 23 16:24:18 2026] {XID}", None, None),
        (f"Jan 21 04:41:44 n1 kernel: {XID}", None, None),
        (f"2026-01-21T04:41:44.283302+00:00 n1 kernel: {XID}", None, None),
        (XID, None, None),
    ],
)
def test_a_message_is_found_in_every_form(
    line: str, priority: int | None, monotonic_s: float | None
) -> None:
    record = kernel_log.record_of(line)

    assert record == kernel_log.KernelRecord(XID, priority, monotonic_s)


def test_an_xid_names_device_and_process() -> None:
    event = kernel_log.parse(XID).xids[0]

    assert (event.xid, event.pci, event.pid, event.process) == (79, "0000:9b:00", 4711, "python3")


@pytest.mark.parametrize(
    "line",
    [
        "NVRM: Xid (0000:03:00): 79, GPU has fallen off the bus.",
        "NVRM: Xid (PCI:0000:38:00.0): 79, pid='<unknown>', name=<unknown>, gone",
    ],
)
def test_an_xid_without_process_is_an_xid(line: str) -> None:
    event = kernel_log.parse(line).xids[0]

    assert (event.xid, event.pid, event.process) == (79, None, None)


def test_errors_are_the_messages_of_priority_err_and_worse() -> None:
    log = kernel_log.parse("3,1,1,-;bad disk\n2,2,2,-;worse\n4,3,3,-;only a warning\nno level")

    assert [record.message for record in log.errors] == ["bad disk", "worse"]


def test_the_continuation_lines_of_a_record_are_no_messages() -> None:
    log = kernel_log.parse("3,1,1,-;bad disk\n SUBSYSTEM=block\n DEVICE=b8:0\n")

    assert [record.message for record in log.records] == ["bad disk"]


def test_kills_for_want_of_memory_are_counted() -> None:
    log = kernel_log.parse(
        "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null)\n"
        "Out of memory: Killed process 123 (httpd)\noom_reaper: reaped process 123\n"
    )

    assert (log.out_of_memory_lines, log.oom_kill_lines) == (1, 1)


def test_an_empty_log_has_nothing_to_report() -> None:
    assert kernel_log.parse("").records == ()


def test_a_binary_file_is_no_log() -> None:
    with pytest.raises(ParseError, match="NUL"):
        kernel_log.parse("\0\0\0")


GIANT = "9" * 5000


@pytest.mark.parametrize(
    "line",
    [
        f"[{GIANT}.0] x",
        f"<{GIANT}>[ 1.0] x",
        f"6,1,{GIANT},-;x",
        f"NVRM: Xid (PCI:0000:01:00): {GIANT}, x",
        f"NVRM: Xid (PCI:0000:01:00): 79, pid={GIANT}, x",
    ],
)
def test_a_giant_number_is_no_number(line: str) -> None:
    assert str(kernel_log.parse(line).records[0].monotonic_s) in {"None", "1.0"}
