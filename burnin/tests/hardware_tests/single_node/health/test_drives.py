"""NVMe drives and arrays."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.tests.hardware_tests.single_node.health.h100 import SMART
from burnin.tests.hardware_tests.single_node.health.reading import ended, read

TWO_DISKS = """\
Personalities : [raid1]
md0 : active raid1 nvme1n1p1[1] nvme0n1p1[0]
      1048512 blocks super 1.2 [2/2] [UU]

unused devices: <none>
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [("[UU]", "[U_]"), ("nvme1n1p1[1]", "nvme1n1p1[1](F)"), ("active raid1", "inactive")],
)
def test_an_array_that_lost_a_member_is_named(tmp_path: Path, before: str, after: str) -> None:
    broken = {"text": TWO_DISKS.replace(before, after)}

    assert read("degraded_arrays", {"text": TWO_DISKS}, tmp_path) == (0, "")
    assert read("degraded_arrays", broken, tmp_path) == (1, "md0")
    with pytest.raises(NotMeasured):
        read("degraded_arrays", {"text": ""}, tmp_path)


def drive(state: str = "live", firmware: str = "9CV10200") -> dict[str, str]:
    return {"state": state, "model": "P5520", "firmware_rev": firmware}


def test_drives_that_are_live_count(tmp_path: Path) -> None:
    assert read("nvme_count", {"nvme0": drive()}, tmp_path) == (1, "")
    assert read("nvme_count", {"nvme0": drive("dead")}, tmp_path) == (0, "nvme0: dead")
    assert read("nvme_count", {}, tmp_path) == (0, "")


def test_firmware_of_drives_is_compared_within_one_model(tmp_path: Path) -> None:
    mixed = {"nvme0": drive(), "nvme1": drive(firmware="9CV10100")}

    assert read("drive_firmware_versions", {"nvme0": drive()}, tmp_path) == (1, "P5520: 9CV10200")
    assert read("drive_firmware_versions", mixed, tmp_path) == (2, "P5520: 9CV10100, 9CV10200")
    with pytest.raises(NotMeasured, match="has no NVMe drive"):
        read("drive_firmware_versions", {}, tmp_path)


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        ('"critical_warning":0', '"critical_warning":4', "critical warning 0x04"),
        ('"media_errors":0', '"media_errors":7', "7 media errors"),
        ('"percent_used":3', '"percent_used":100', "worn out"),
        ('"avail_spare":100', '"avail_spare":9', "its spare is used up"),
    ],
)
def test_a_drive_that_calls_itself_bad_is_named_with_its_words(
    tmp_path: Path, before: str, after: str, words: str
) -> None:
    both = {"nvme0": ended(), "nvme1": ended()}
    files = {"nvme_health-nvme0.txt": SMART, "nvme_health-nvme1.txt": SMART.replace(before, after)}

    assert read("failing_drives", both, tmp_path, files) == (1, f"nvme1: {words}")


def test_a_drive_whose_health_cannot_be_read_is_no_sound_drive(tmp_path: Path) -> None:
    with pytest.raises(ParseError, match="Permission denied"):
        read(
            "failing_drives",
            {"nvme0": ended(1)},
            tmp_path,
            {"nvme_health-nvme0.txt": "/dev/nvme0: Permission denied"},
        )
