"""What the machine started with, how often it did, and what it has kept of its errors since."""

from __future__ import annotations

import re

from pydantic import Field

from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers.number import amount, count
from burnin.hardware_tests.single_node.health.section import (
    Found,
    FromNode,
    Reader,
    Section,
    Text,
    ToolEnd,
    listed,
    told,
)

DAY_S = 24 * 3600
_BOOT = re.compile(r"^reboot\s+system boot\s+(.+?)\s*$", re.MULTILINE)
_BEGINS = re.compile(r"^wtmp\S* begins ", re.MULTILINE)
_CHECKS = re.compile(r"^MCE records summary:\n((?:\t.*\n?)+)", re.MULTILINE)
_CHECK = re.compile(r"^\t(\d+) (.+?) errors$", re.MULTILINE)
_NO_CHECKS = "No MCE errors."


class _Boots(FromNode):
    uptime: str
    last: ToolEnd


class _Bios(FromNode):
    bios_vendor: str
    bios_version: str = Field(min_length=1)
    bios_date: str


class _Iommu(FromNode):
    groups: int = Field(ge=0)
    arguments: list[str]


class _Limited(FromNode):
    lines: list[str]


def uptime(section: Section) -> Found:
    return _seconds(section.shaped(Text).text), ""


def reboots(section: Section) -> Found:
    """Count the boots of the last 24 h, as wtmp has them."""
    found = section.shaped(_Boots)
    text = section.artifacts.get_custom_file("reboots-last.txt").read_text(errors="replace")
    if found.last.exit_code or found.last.hung_s is not None or not _BEGINS.search(text):
        raise NotMeasured(f"last does not tell the boots: {found.last.words}")
    boots = _BOOT.findall(text)
    if not boots and _seconds(found.uptime) < DAY_S:
        raise NotMeasured("wtmp does not list the last boot: nobody keeps it")
    return listed(boots)


def kernel_versions(section: Section) -> Found:
    release = section.shaped(Text).text.strip()
    if not release:
        raise NotMeasured("the kernel does not tell its release")
    return told({release})


def bios_versions(section: Section) -> Found:
    bios = section.shaped(_Bios)
    return told({f"{bios.bios_vendor} {bios.bios_version} ({bios.bios_date})".strip()})


def iommu_groups(section: Section) -> Found:
    found = section.shaped(_Iommu)
    asked = f", asked for by {' '.join(found.arguments)}" if found.arguments else ""
    return found.groups, f"{found.groups} groups{asked}"


def limited_pcie_links(section: Section) -> Found:
    return listed(section.shaped(_Limited).lines)


def recorded_machine_checks(section: Section) -> Found:
    """Add up what rasdaemon has kept, over all boots."""
    said = section.said()
    if said.exit_code or not (_CHECKS.search(said.text) or _NO_CHECKS in said.text):
        raise NotMeasured(f"ras-mc-ctl tells nothing of machine checks: {said.words}")
    records = [line for block in _CHECKS.findall(said.text) for line in _CHECK.findall(block)]
    total = sum(count(number, "rasdaemon's count") for number, _ in records)
    return total, "; ".join(f"{number} of {name}" for number, name in records)


def _seconds(text: str) -> float:
    words = text.split()
    return amount(words[0] if words else "", "the uptime")


READERS: dict[str, Reader] = {
    "uptime": uptime,
    "reboots": reboots,
    "kernel_versions": kernel_versions,
    "bios_versions": bios_versions,
    "iommu_groups": iommu_groups,
    "limited_pcie_links": limited_pcie_links,
    "recorded_machine_checks": recorded_machine_checks,
}
