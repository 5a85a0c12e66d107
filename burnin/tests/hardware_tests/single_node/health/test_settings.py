"""Memory modules, settings, and what the operating system says of itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.tests.hardware_tests.single_node.health.h100 import CHRONYC, DMIDECODE, SCONTROL
from burnin.tests.hardware_tests.single_node.health.reading import read, said


def test_seated_modules_are_counted_by_kind(tmp_path: Path) -> None:
    assert said("dimm_count", DMIDECODE, tmp_path) == (1, "1 of 64 GB")
    with pytest.raises(NotMeasured, match="No such file"):
        said("dimm_count", "# dmidecode 3.4\n", tmp_path, words="/dev/mem: No such file")


def test_uncorrected_errors_count_since_boot_and_corrected_ones_as_they_grow(
    tmp_path: Path,
) -> None:
    ends = {
        "before": {"mc0": {"ue_count": 1, "ce_count": 5}},
        "after": {"mc0": {"ue_count": 1, "ce_count": 7}},
    }

    assert read("uncorrected_memory_errors", ends, tmp_path) == (1, "mc0: 1")
    assert read("new_corrected_memory_errors", ends, tmp_path) == (2, "mc0")


@pytest.mark.parametrize(
    ("check", "found", "expected"),
    [
        (
            "unsteady_cpus",
            {"cpu0": "performance", "cpu37": "powersave"},
            (1, "cpu37: powersave"),
        ),
        ("odd_clock_source", {"name": "tsc"}, (0, "tsc")),
        ("odd_clock_source", {"name": "hpet"}, (1, "hpet")),
        ("swap_devices", {"devices": ["/swapfile"]}, (1, "/swapfile")),
        ("limited_locked_memory", {"limit_bytes": None}, (0, "unlimited")),
        ("limited_locked_memory", {"limit_bytes": 1 << 30}, (1, "1 GiB")),
        ("stuck_processes", {"processes": ["sh (pid 7, state D)"]}, (1, "sh (pid 7, state D)")),
        ("numa_balancing", {"count": 1}, (1, "")),
        ("shared_memory", {"bytes": 8 << 30}, (8, "")),
    ],
)
def test_a_setting_is_shown_as_it_is(
    tmp_path: Path, check: str, found: Any, expected: tuple[float, str]
) -> None:
    assert read(check, found, tmp_path) == expected


def test_the_offset_is_chronys_in_milliseconds_and_without_a_sign(tmp_path: Path) -> None:
    value, detail = said("time_offset", CHRONYC, tmp_path)

    assert value == pytest.approx(0.012345) and detail == "against 10.0.0.1"


@pytest.mark.parametrize(
    "text", [CHRONYC.replace("Normal", "Not synchronised"), "506 Cannot talk to daemon\n", ""]
)
def test_a_clock_that_nobody_keeps_is_no_measurement(tmp_path: Path, text: str) -> None:
    with pytest.raises(NotMeasured):
        said("time_offset", text, tmp_path)


def test_an_offset_that_is_no_number_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParseError):
        said("time_offset", CHRONYC.replace("-0.000012345", "nan"), tmp_path)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("ALLOCATED", (0, "")),
        ("MIXED+DRAIN", (1, "DRAIN")),
        ("DOWN*", (2, "DOWN; NOT_RESPONDING")),
        ("IDLE+MAINTENANCE+RESERVED", (0, "")),
    ],
)
def test_states_that_slurm_holds_against_the_node_are_named(
    tmp_path: Path, state: str, expected: tuple[float, str]
) -> None:
    assert said("slurm_complaints", SCONTROL.replace("ALLOCATED", state), tmp_path) == expected
    with pytest.raises(NotMeasured, match="Unable to contact"):
        said("slurm_complaints", "", tmp_path, exit_code=1, words="Unable to contact slurm")


def test_cores_are_counted_by_their_threads(tmp_path: Path) -> None:
    two = {"siblings": ["0,2", "1,3", "0,2", "1,3"]}

    assert read("cpu_cores", two, tmp_path) == (2, "")
    assert read("threads_per_core", two, tmp_path) == (2, "")
    with pytest.raises(NotMeasured, match="cores have 1 or 2 threads"):
        read("threads_per_core", {"siblings": ["0,2", "0,2", "1"]}, tmp_path)


def test_the_clock_is_the_mean_of_the_cpus(tmp_path: Path) -> None:
    assert read("cpu_clock", {"clocks": ["1000.0", "2000.0"]}, tmp_path) == (
        1500,
        "1000 to 2000 MHz",
    )
    with pytest.raises(ParseError):
        read("cpu_clock", {"clocks": ["fast"]}, tmp_path)


def test_a_directory_that_holds_its_parents_files_is_named(tmp_path: Path) -> None:
    assert read("unmounted_filesystems", {"/tmp": True}, tmp_path) == (0, "")
    assert read("unmounted_filesystems", {"/tmp": False}, tmp_path) == (1, "/tmp")
    with pytest.raises(NotMeasured, match="/tmp was asked for"):
        read("unmounted_filesystems", {}, tmp_path)
