from __future__ import annotations

import pytest

from burnin.hardware_tests.parsers import kernel_log


@pytest.mark.parametrize(
    ("line", "sxid", "fatal", "link"),
    [
        (
            "nvidia-nvswitch3: SXid (PCI:0000:c1:00.0): 12028, Non-fatal, Link 32 egress error",
            12028,
            False,
            32,
        ),
        ("nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 20034, Fatal, Link 30 LTSSM", 20034, True, 30),
        ("nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 10003, Host_req error", 10003, None, None),
    ],
)
def test_an_sxid_says_whether_it_is_fatal_and_on_which_link(
    line: str, sxid: int, fatal: bool | None, link: int | None
) -> None:
    event = kernel_log.parse(f"3,1,1,-;{line}").sxids[0]

    assert (event.sxid, event.fatal, event.link) == (sxid, fatal, link)
    assert kernel_log.parse(line).xids == ()


@pytest.mark.parametrize(
    ("line", "cpu", "bank", "corrected"),
    [
        (
            "mce: [Hardware Error]: CPU 4: Machine Check: 0 Bank 7: 8c00004000010091",
            4,
            7,
            True,
        ),
        (
            "mce: [Hardware Error]: CPU 4: Machine Check Exception: 5 Bank 7: be00000000800400",
            4,
            7,
            False,
        ),
        (
            "[Hardware Error]: CPU:3 (19:1:1) MC17_STATUS[-|CE|MiscV|AddrV]: 0x9c2040000000011b",
            3,
            17,
            True,
        ),
        (
            "[Hardware Error]: CPU:3 (19:1:1) MC17_STATUS[Over|UE|MiscV]: 0xbc2040000000011b",
            3,
            17,
            False,
        ),
    ],
)
def test_a_machine_check_says_by_its_status_whether_it_was_corrected(
    line: str, cpu: int, bank: int, corrected: bool
) -> None:
    event = kernel_log.parse(line).machine_checks[0]

    assert (event.cpu, event.bank, event.corrected) == (cpu, bank, corrected)


@pytest.mark.parametrize(
    ("line", "corrected", "errors", "place"),
    [
        (
            "EDAC MC0: 3 CE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1)",
            True,
            3,
            "CPU_SrcID#0_MC#0_Chan#1_DIMM#0",
        ),
        ("EDAC MC1: 1 UE memory scrubbing error on mc#1 (page:0x1)", False, 1, "mc#1"),
        ('EDAC MC0: CE page 0x2, offset 0x0, row 2, label "DIMM_A1": amd64', True, 1, "DIMM_A1"),
    ],
)  # fmt: skip
def test_memory_errors_are_counted_with_their_dimm(
    line: str, corrected: bool, errors: int, place: str
) -> None:
    event = kernel_log.parse(line).edac_events[0]

    assert (event.corrected, event.errors, event.place) == (corrected, errors, place)


@pytest.mark.parametrize(
    ("line", "device"),
    [
        ("I/O error, dev nvme0n1, sector 4096 op 0x0:(READ) flags 0x0 phys_seg 1", "nvme0n1"),
        ("blk_update_request: I/O error, dev sda, sector 8 op 0x1:(WRITE)", "sda"),
        ("blk_update_request: critical medium error, dev sdb, sector 8", "sdb"),
        ("Buffer I/O error on dev sda1, logical block 0, async page read", "sda1"),
        ("nvme1n1: I/O Cmd(0x2) @ LBA 8, 8 blocks, I/O Error (sct 0x2 / sc 0x81)", "nvme1n1"),
        ("EXT4-fs error (device md0): ext4_find_entry:1455: inode #2", "md0"),
        ("XFS (dm-3): metadata I/O error in xfs_trans_read_buf_map", "dm-3"),
    ],
)
def test_an_io_error_names_its_device(line: str, device: str) -> None:
    assert [event.device for event in kernel_log.parse(line).io_errors] == [device]


def test_what_sounds_alike_is_no_fault() -> None:
    log = kernel_log.parse(
        "EDAC MC0: Giving out device to module skx_edac\n"
        "EDAC MC: Ver: 3.0.0\n"
        "mce: CPU0: Thermal monitoring enabled (TM1)\n"
        "nvidia-nvswitch0: open (major=510)\n"
        "nvme nvme0: I/O timeout is 30 s\n"
    )

    assert (log.sxids, log.machine_checks, log.edac_events, log.io_errors) == ((), (), (), ())
