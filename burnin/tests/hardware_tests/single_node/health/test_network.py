"""Adapters, cables and the counters of both."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.tests.hardware_tests.parsers.corpus.recordings import SHIPPED
from burnin.tests.hardware_tests.single_node.health.h100 import IBSTAT, MLXLINK, OFED, WPA
from burnin.tests.hardware_tests.single_node.health.reading import ended, read, said

FAULTY = (SHIPPED / "infiniband/ibstat_four_hcas_faults.txt").read_text()


def test_ports_that_are_up_are_counted_and_the_others_named(tmp_path: Path) -> None:
    assert said("active_rdma_ports", IBSTAT, tmp_path) == (8, "")
    value, detail = said("down_rdma_ports", FAULTY, tmp_path)
    assert value == 2
    assert detail == "mlx5_1/1: Down, Polling; mlx5_2/1: Initializing, LinkUp"


def test_the_slowest_port_that_is_up_counts(tmp_path: Path) -> None:
    assert said("slowest_rdma_port", IBSTAT, tmp_path)[0] == 400
    assert said("slowest_rdma_port", FAULTY, tmp_path) == (100, "mlx5_bond_0/1")


def test_firmware_is_compared_within_one_model(tmp_path: Path) -> None:
    mixed = IBSTAT.replace("28.39.1002", "28.38.1002", 1)

    assert said("hca_firmware_versions", IBSTAT, tmp_path)[0] == 1
    assert said("hca_firmware_versions", mixed, tmp_path) == (2, "MT4129: 28.38.1002, 28.39.1002")


def test_an_ibstat_that_lists_nothing_has_lost_the_adapters(tmp_path: Path) -> None:
    assert said("active_rdma_ports", "", tmp_path) == (0, "ibstat lists no adapter")
    with pytest.raises(ParseError):
        said("active_rdma_ports", "", tmp_path, exit_code=1)
    with pytest.raises(ParseError):
        said("down_rdma_ports", "", tmp_path)


def test_the_growth_of_a_ports_counter_counts(tmp_path: Path) -> None:
    before = {"mlx5_0/ports/1": {"symbol_error": 4, "link_downed": 1}}
    after = {"mlx5_0/ports/1": {"symbol_error": 9, "link_downed": 1}}

    assert read("new_rdma_errors", {"before": before, "after": before}, tmp_path)[0] == 0
    value, detail = read("new_rdma_errors", {"before": before, "after": after}, tmp_path)
    assert value == 5 and detail == "mlx5_0/1 symbol_error"
    with pytest.raises(NotMeasured, match="at one end of the run only"):
        read("new_rdma_errors", {"before": before, "after": {}}, tmp_path)


@pytest.mark.parametrize(
    ("advice", "rate", "is_weak"),
    [
        ("No issue was observed", "15E-255", False),
        ("Bad signal integrity", "3E-10", False),
        ("Bad signal integrity", "2E-6", True),
        ("Cable is unplugged", "N/A", True),
    ],
)
def test_a_weak_signal_is_what_mlxlink_advises_against(
    tmp_path: Path, advice: str, rate: str, is_weak: bool
) -> None:
    text = MLXLINK.replace("No issue was observed", advice).replace("3E-10", rate)

    found = read("weak_rdma_ports", {"mlx5_0": ended()}, tmp_path, {"rdma_signal-mlx5_0.txt": text})

    assert found[0] == is_weak


def test_a_port_of_which_mlxlink_tells_no_signal_is_refused(tmp_path: Path) -> None:
    found = {"mlx5_0": ended(1, "-E- Failed to open device")}

    with pytest.raises(NotMeasured, match="no signal of mlx5_0: -E- Failed to open"):
        read("weak_rdma_ports", found, tmp_path, {"rdma_signal-mlx5_0.txt": ""})


def interface(state: str = "up", flags: int = 0x1003, lost: int = 2) -> dict[str, Any]:
    return {"flags": flags, "state": state, "carrier_down_count": lost}


def links(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    return {"before": before, "after": after}


def test_a_link_that_is_wanted_and_down_is_named(tmp_path: Path) -> None:
    ends = {"eth0": interface(), "eth1": interface("down"), "eth2": interface("down", flags=0)}

    assert read("down_network_links", links(ends, ends), tmp_path) == (1, "eth1: down")
    unknown = {"eth0": interface("unknown")}
    with pytest.raises(NotMeasured, match="eth0 does not tell its state"):
        read("down_network_links", links(unknown, unknown), tmp_path)


def test_carriers_lost_while_it_was_watched_count(tmp_path: Path) -> None:
    ends = links({"eth0": interface(lost=2)}, {"eth0": interface(lost=9)})

    assert read("link_flaps", ends, tmp_path) == (7, "eth0")


def test_the_version_of_the_ofed_is_told(tmp_path: Path) -> None:
    assert said("ofed_versions", OFED, tmp_path) == (1, "MLNX_OFED_LINUX-23.10-0.5.5.0")
    with pytest.raises(NotMeasured, match="ofed_info tells no version: broken"):
        said("ofed_versions", "", tmp_path, exit_code=1, words="broken")


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        (WPA, "", (0, "")),
        (WPA.replace("AUTHENTICATED", "HELD"), "", (1, "rdma0: HELD")),
        (
            "",
            "Failed to connect to non-global ctrl_ifname: rdma0  error: No such file or directory",
            (1, "rdma0: no supplicant runs"),
        ),
    ],
)
def test_a_port_that_the_switch_has_not_let_in_is_named(
    tmp_path: Path, text: str, words: str, expected: tuple[float, str]
) -> None:
    files = {"port_authentication-rdma0.txt": text}

    assert read("unauthenticated_ports", {"rdma0": ended(0, words)}, tmp_path, files) == expected


def test_a_supplicant_that_says_nothing_is_no_answer(tmp_path: Path) -> None:
    files = {"port_authentication-rdma0.txt": "wpa_state=COMPLETED\n"}

    with pytest.raises(NotMeasured, match="tells no state of rdma0"):
        read("unauthenticated_ports", {"rdma0": ended()}, tmp_path, files)


def test_the_slowest_link_and_the_smallest_frame_are_named(tmp_path: Path) -> None:
    found = {"eth0": {"speed": "25000", "mtu": "9000"}, "eth1": {"speed": "1000", "mtu": "1500"}}

    assert read("slowest_network_link", found, tmp_path) == (1, "eth1")
    assert read("smallest_frame", found, tmp_path) == (1500, "eth1")
    with pytest.raises(NotMeasured, match="eth0 has no speed"):
        read("slowest_network_link", {"eth0": {"speed": "-1", "mtu": "1500"}}, tmp_path)
    with pytest.raises(ParseError):
        read("smallest_frame", {"eth0": {"speed": "1000", "mtu": ""}}, tmp_path)


def journal(directory: Path, day: str, lost: str, words: str = "") -> tuple[float, str]:
    found = {"day": ended(), "lost": ended(0 if lost else 1, words)}
    files = {"lost_carriers-day.txt": day, "lost_carriers-lost.txt": lost}
    return read("lost_carriers", found, directory, files)


def test_carriers_lost_within_a_day_count_on_the_worst_link(tmp_path: Path) -> None:
    lost = "ib0: Lost carrier\nib1: Lost carrier\nib0: Lost carrier\n"

    assert journal(tmp_path, "Started.\n", lost) == (2, "ib0")
    assert journal(tmp_path, "Started.\n", "") == (0, "")
    assert journal(tmp_path, "Started.\n", "-- No entries --\n", "-- No entries --") == (0, "")


def test_a_journal_that_is_not_kept_or_not_searched_shows_no_sound_link(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="holds nothing of the last 24 h"):
        journal(tmp_path, "-- No entries --\n", "")
    with pytest.raises(NotMeasured, match="Compiled without pattern matching"):
        journal(tmp_path, "Started.\n", "", "Compiled without pattern matching support")
