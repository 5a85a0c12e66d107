"""How the machine started, how often, and what it kept of its errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.tests.hardware_tests.single_node.health.h100 import BOOTS, RASDAEMON
from burnin.tests.hardware_tests.single_node.health.reading import ended, read, said

BIOS = {"bios_vendor": "Dell Inc.", "bios_version": "2.5.6", "bios_date": "10/01/2025"}


@pytest.mark.parametrize(
    ("check", "found", "expected"),
    [
        ("uptime", {"text": "350735.47 234388.90\n"}, (350735.47, "")),
        ("kernel_versions", {"text": "6.1.0-13-amd64\n"}, (1, "6.1.0-13-amd64")),
        ("bios_versions", BIOS, (1, "Dell Inc. 2.5.6 (10/01/2025)")),
        ("iommu_groups", {"groups": 0, "arguments": []}, (0, "0 groups")),
        (
            "iommu_groups",
            {"groups": 45, "arguments": ["iommu=pt"]},
            (45, "45 groups, asked for by iommu=pt"),
        ),
        ("limited_pcie_links", {"lines": []}, (0, "")),
        ("limited_pcie_links", {"lines": ["mlx5_core: limited"]}, (1, "mlx5_core: limited")),
    ],
)
def test_what_the_machine_started_with_is_told(
    tmp_path: Path, check: str, found: Any, expected: tuple[float, str]
) -> None:
    assert read(check, found, tmp_path) == expected


def test_a_kernel_without_a_release_is_no_kernel_of_any(tmp_path: Path) -> None:
    with pytest.raises(NotMeasured, match="does not tell its release"):
        read("kernel_versions", {"text": "\n"}, tmp_path)


def boots(directory: Path, text: str, uptime: str = "90000.0 1.0", exit_code: int = 0) -> float:
    found = {"uptime": uptime, "last": ended(exit_code, "cannot open /var/log/wtmp")}
    return read("reboots", found, directory, {"reboots-last.txt": text})[0]


def test_boots_of_a_day_are_counted(tmp_path: Path) -> None:
    boot, _, end = BOOTS.partition("\n\n")

    assert boots(tmp_path, f"{boot}\n{boot}\n\n{end}") == 2
    assert boots(tmp_path, f"\n{end}") == 0


def test_boots_that_nobody_keeps_are_not_none(tmp_path: Path) -> None:
    end = BOOTS.partition("\n\n")[2]

    with pytest.raises(NotMeasured, match="does not list the last boot"):
        boots(tmp_path, f"\n{end}", uptime="700.0 1.0")
    with pytest.raises(NotMeasured, match="cannot open /var/log/wtmp"):
        boots(tmp_path, "", exit_code=1)
    with pytest.raises(ParseError):
        boots(tmp_path, f"\n{end}", uptime="")


def test_machine_checks_that_were_kept_are_added_up(tmp_path: Path) -> None:
    kept = "MCE records summary:\n\t2 Internal timer errors\n\t1 No Error errors\n"

    assert said("recorded_machine_checks", RASDAEMON, tmp_path) == (0, "")
    assert said("recorded_machine_checks", kept, tmp_path) == (
        3,
        "2 of Internal timer; 1 of No Error",
    )
    with pytest.raises(NotMeasured, match="tells nothing of machine checks"):
        said("recorded_machine_checks", "No Memory errors.\n", tmp_path)
