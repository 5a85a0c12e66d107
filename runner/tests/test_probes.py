"""What can be asked of a machine without a tool."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from runner.probes import clock, filesystems
from runner.probes.clock import clock_offset, filesystem_of, offset_against
from runner.probes.filesystems import look_at, probe
from runner.probes.kernel_log import KernelLog, errors_in

MOUNTS = """\
/dev/sda1 / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
mds@o2ib:/work /home/work\\040space lustre rw 0 0
tmpfs /home2 tmpfs rw 0 0
"""


@pytest.mark.parametrize(
    ("directory", "kind"),
    [
        ("/var/spool", "ext4"),
        ("/home", "nfs4"),
        ("/home/someone", "nfs4"),
        ("/home2/x", "tmpfs"),
        ("/home/work space/burnin", "lustre"),
    ],
)
def test_the_deepest_mount_holds_the_directory(directory: str, kind: str) -> None:
    assert filesystem_of(Path(directory), MOUNTS) == kind


def test_a_machine_agrees_with_itself(tmp_path: Path) -> None:
    assert abs(offset_against(tmp_path)) < 1
    assert list(tmp_path.iterdir()) == []


def told_by_login(directory: Path, **login: object) -> None:
    (directory / "login-clock.json").write_text(json.dumps(login))


def test_a_node_ahead_of_the_login_host_is_positive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told_by_login(tmp_path, offset_s=-0.25, filesystem="nfs4")
    monkeypatch.setattr(clock, "offset_against", lambda _directory: 1.5)

    found = clock_offset(tmp_path)

    assert found == {"offset_s": 1.75}


def test_where_the_writer_stamps_files_no_clock_can_be_compared(tmp_path: Path) -> None:
    told_by_login(tmp_path, offset_s=0.0, filesystem="lustre")

    assert clock_offset(tmp_path) == {"error": "files on lustre are stamped by their writer"}


@pytest.mark.parametrize("text", ["", "{", "{}", '{"offset_s": "x", "filesystem": "nfs"}'])
def test_a_torn_login_clock_is_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "login-clock.json").write_text(text)

    assert "cannot be compared" in clock_offset(tmp_path)["error"]


def test_a_clock_that_is_no_number_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "login-clock.json").write_text('{"offset_s": NaN, "filesystem": "ext4"}')

    assert clock_offset(tmp_path) == {"error": "login-clock.json holds no finite number"}


def test_a_writable_directory_is_left_as_it_was(tmp_path: Path) -> None:
    found = look_at(str(tmp_path))

    assert (found["writable"], found["error"]) == (True, None)
    assert 0 < found["free_bytes"] <= found["size_bytes"]
    assert list(tmp_path.iterdir()) == []


def test_data_that_comes_back_changed_is_not_writable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Path, "read_bytes", lambda _path: b"other")

    found = probe(str(tmp_path))

    assert (found["writable"], found["error"]) == (False, "what was written came back changed")


def test_a_dead_mount_does_not_hold_us(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(filesystems, "probe", lambda _path: time.sleep(60))

    found = look_at("/dead", answer_s=0.2)

    assert found == {"path": "/dead", "writable": False, "error": "no answer within 0.2 s"}


def test_only_the_kernels_own_errors_count() -> None:
    records = [
        "3,100,5,-;ata1: failed command\n SUBSYSTEM=ata\n",
        "2,101,6,-;Machine check\n",
        "4,102,7,-;a warning\n",
        "6,103,8,-;eth0: link up\n",
        "11,104,9,-;systemd: a daemon's error\n",
    ]

    assert errors_in(records) == ["3,100,5,-;ata1: failed command", "2,101,6,-;Machine check"]


@pytest.mark.parametrize(
    "message",
    [
        "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, GPU has fallen off the bus.",
        "nvidia-nvswitch0: SXid (PCI:0000:05:00.0): 12023, Non-fatal, Link 27",
        "pcieport 0000:16:02.0: AER: Corrected error received: 0000:17:00.0",
        "pcieport 0000:16:02.0: AER: Multiple Uncorrectable (Fatal) error message received",
        "nvme 0000:17:00.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer",
        "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0",
        'EDAC MC1: UE page 0x2f3, offset 0x0, grain 8, labels "DIMM_B1"',
        "EDAC skx MC2: HANDLING MCE MEMORY ERROR",
    ],
)
def test_hardware_faults_count_whatever_their_priority(message: str) -> None:
    for priority in range(8):
        line = f"{priority},7,7,-;{message}"
        assert errors_in([line]) == [line]


@pytest.mark.parametrize(
    "line",
    [
        "6,1,1,-;EDAC MC: Ver: 3.0.0",
        "6,1,1,-;EDAC MC0: Giving out device to module skx_edac controller Skylake Socket#0",
        "6,1,1,-;pcieport 0000:16:02.0: AER: enabled with IRQ 33",
        "6,1,1,-;NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.15",
        "12,1,1,-;a daemon says NVRM: Xid (PCI:0000:3b:00): 79",
    ],
)
def test_what_only_tells_of_itself_is_no_fault(line: str) -> None:
    assert errors_in([line]) == []


def test_a_log_that_cannot_be_opened_is_an_error(tmp_path: Path) -> None:
    log = KernelLog(str(tmp_path / "kmsg"))

    found = log.errors()
    log.close()

    assert found == {"error": f"{tmp_path}/kmsg cannot be read: No such file or directory"}


def test_only_what_came_after_opening_counts(tmp_path: Path) -> None:
    device = tmp_path / "kmsg"
    device.write_text("3,1,1,-;before\n")
    log = KernelLog(str(device))

    with device.open("a") as file:
        file.write("3,2,2,-;after\n")
    found = log.errors()
    log.close()

    assert (found["lines"], found["count"]) == (["3,2,2,-;after"], 1)


@pytest.mark.parametrize("code", [32, 22])
def test_a_log_that_was_overwritten_is_an_error_and_not_a_clean_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    (tmp_path / "kmsg").write_text("")
    log = KernelLog(str(tmp_path / "kmsg"))

    def read(_file: int, _size: int) -> bytes:
        raise OSError(code, os.strerror(code))

    with monkeypatch.context() as patched:
        patched.setattr(os, "read", read)
        found = log.errors()
    log.close()

    assert found == {"error": f"the kernel log cannot be read: {os.strerror(code)}"}


def test_a_record_without_priority_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "kmsg").write_text("")
    log = KernelLog(str(tmp_path / "kmsg"))
    (tmp_path / "kmsg").write_text("garbage\n")

    found = log.errors()
    log.close()

    assert "a record without priority: garbage" in found["error"]
