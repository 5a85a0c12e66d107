"""PCIe links, and the board's controller."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnin.hardware_tests.evaluation import NotMeasured
from burnin.tests.hardware_tests.single_node.health.h100 import BMC, LSPCI, SEL, SENSORS
from burnin.tests.hardware_tests.single_node.health.reading import said


def test_a_gpu_at_rest_is_slow_by_design_and_never_narrow(tmp_path: Path) -> None:
    narrow = LSPCI.replace("Speed 2.5GT/s (downgraded), Width x16", "Speed 2.5GT/s, Width x8")

    assert said("narrow_pcie_links", LSPCI, tmp_path) == (0, "")
    assert said("slow_pcie_links", LSPCI, tmp_path) == (0, "")
    assert said("narrow_pcie_links", narrow, tmp_path) == (
        1,
        "18:00.0: x8 at 2.5 GT/s of x16 at 32.0 GT/s",
    )


def test_an_adapter_below_its_speed_is_named(tmp_path: Path) -> None:
    slow = LSPCI.replace("LnkSta:	Speed 32GT/s, Width x16", "LnkSta:	Speed 16GT/s, Width x16")

    value, detail = said("slow_pcie_links", slow, tmp_path)
    assert value == 1 and detail.startswith("19:00.0: ")


@pytest.mark.parametrize(
    ("bridge", "found"),
    [("16GT/s, Width x16", 0), ("32GT/s, Width x16", 1), ("unknown, Width x16", 1)],
)
def test_a_device_can_be_no_faster_than_its_slot(tmp_path: Path, bridge: str, found: int) -> None:
    slow = LSPCI.replace("LnkSta:	Speed 32GT/s, Width x16", "LnkSta:	Speed 16GT/s, Width x16")
    above = (
        "17:01.0 PCI bridge: Broadcom / LSI PEX890xx PCIe Gen 5 Switch (rev b0)\n"
        "\tBus: primary=17, secondary=19, subordinate=19, sec-latency=0\n"
        f"\t\tLnkCap:\tPort #0, Speed {bridge}, ASPM not supported\n"
        "\t\tLnkSta:\tSpeed 16GT/s, Width x16\n\n"
    )

    assert said("slow_pcie_links", above + slow, tmp_path)[0] == found
    assert said("narrow_pcie_links", above + slow, tmp_path)[0] == 0


def test_a_device_that_fell_off_the_bus_is_found(tmp_path: Path) -> None:
    gone = LSPCI.replace("(rev a1)", "(rev ff)")

    assert said("narrow_pcie_links", gone, tmp_path) == (1, "18:00.0: fell off the bus")


@pytest.mark.parametrize("check", ["narrow_pcie_links", "slow_pcie_links"])
def test_links_that_may_not_be_read_are_no_good_links(tmp_path: Path, check: str) -> None:
    denied = LSPCI.replace("\t\tLnkCap:", "\tCapabilities: <access denied>\n\t\tLnkCap:", 1)

    with pytest.raises(NotMeasured, match="run the job as root"):
        said(check, denied, tmp_path)
    with pytest.raises(NotMeasured, match="no GPU, adapter or drive with a link"):
        said(check, "00:01.0 PCI bridge: Intel\n\n", tmp_path)


def test_bridges_that_check_sources_are_counted(tmp_path: Path) -> None:
    on = LSPCI.replace("ACSCtl:	SrcValid-", "ACSCtl:	SrcValid+")

    assert said("access_control_bridges", LSPCI, tmp_path)[0] == 0
    assert said("access_control_bridges", on, tmp_path)[0] == 1


@pytest.mark.parametrize(
    "event",
    [
        "Power Supply PSU2 | Power Supply AC lost | Asserted",
        "Memory DIMM_A1 | Uncorrectable ECC | Asserted",
        "Critical Interrupt | PCI SERR | Asserted",
        "Processor CPU1 | Processor Throttled | Asserted",
    ],
)
def test_faults_in_the_event_log_are_shown(tmp_path: Path, event: str) -> None:
    line = f"   3 | 11/30/2026 | 01:06:03 | {event}"

    assert said("event_log_faults", SEL, tmp_path) == (0, "")
    assert said("event_log_faults", f"{SEL}{line}\n", tmp_path) == (1, line.strip())


def test_an_empty_event_log_is_good_and_an_unreadable_one_is_not(tmp_path: Path) -> None:
    assert said("event_log_faults", "", tmp_path, words="SEL has no entries")[0] == 0
    with pytest.raises(NotMeasured, match="Could not open device"):
        said("event_log_faults", "", tmp_path, exit_code=1, words="Could not open device")


def test_a_sensor_out_of_range_is_named(tmp_path: Path) -> None:
    bad = SENSORS.replace("5000 RPM          | ok", "0 RPM             | cr")

    assert said("failed_sensors", SENSORS, tmp_path) == (0, "")
    assert said("failed_sensors", bad, tmp_path) == (1, "FAN1: 0 RPM (cr)")
    with pytest.raises(NotMeasured, match="shows no sensor"):
        said("failed_sensors", "", tmp_path, exit_code=1)


def test_an_adapter_without_relaxed_ordering_is_named_and_a_gpu_is_not(tmp_path: Path) -> None:
    strict = LSPCI.replace("RlxdOrd+", "RlxdOrd-")

    assert said("unrelaxed_devices", LSPCI, tmp_path) == (0, "")
    assert said("unrelaxed_devices", strict, tmp_path) == (1, "19:00.0")
    with pytest.raises(NotMeasured, match=r"no DevCtl of 19:00\.0"):
        said("unrelaxed_devices", LSPCI.replace("RlxdOrd+ ", ""), tmp_path)


def test_the_controllers_firmware_is_told_with_its_maker(tmp_path: Path) -> None:
    assert said("bmc_versions", BMC, tmp_path) == (1, "Supermicro 1.73")
    with pytest.raises(NotMeasured, match="Could not open device"):
        said("bmc_versions", "", tmp_path, exit_code=1, words="Could not open device at /dev/ipmi0")
