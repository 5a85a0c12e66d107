"""NVMe drives, and the arrays that they are in."""

from __future__ import annotations

import re

from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers import nvme
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
from burnin.hardware_tests.single_node.nvme_drive import faults_of

_ARRAY = re.compile(r"^(md\S*) : (.*(?:\n\s+.*)*)", re.MULTILINE)
_MISSING_MEMBER = re.compile(r"^inactive|\(F\)|\[[U_]*_[U_]*\]")
_WORN_OUT_PERCENT = 100


class _Drive(FromNode):
    state: str
    model: str
    firmware_rev: str


def degraded_arrays(section: Section) -> Found:
    text = section.shaped(Text).text
    if not text.startswith("Personalities"):
        raise NotMeasured("/proc/mdstat does not begin as the kernel writes it")
    bad = [name for name, state in _ARRAY.findall(text) if _MISSING_MEMBER.search(state)]
    return listed(bad)


def nvme_count(section: Section) -> Found:
    drives = section.shaped(dict[str, _Drive])
    dead = [f"{name}: {each.state}" for name, each in drives.items() if each.state != "live"]
    return len(drives) - len(dead), "; ".join(dead)


def drive_firmware_versions(section: Section) -> Found:
    """Return how many versions one model has, and tell those of each model."""
    drives = section.shaped(dict[str, _Drive]).values()
    versions = {
        model: sorted({each.firmware_rev for each in drives if each.model == model})
        for model in {each.model for each in drives}
    }
    if not versions:
        raise NotMeasured("the node has no NVMe drive")
    _, words = told({f"{model}: {', '.join(each)}" for model, each in versions.items()})
    return max(map(len, versions.values())), words


def failing_drives(section: Section) -> Found:
    """Count drives that say so themselves: warnings, lost data, no spare, worn out."""
    drives = sorted(section.shaped(dict[str, ToolEnd]))
    faults = {name: _faults(section, name) for name in drives}
    return listed([f"{name}: {', '.join(each)}" for name, each in faults.items() if each])


def _faults(section: Section, name: str) -> list[str]:
    log = section.parsed(nvme.parse, name)
    if not isinstance(log, nvme.NvmeSmartLog):
        raise NotMeasured(f"nvme did not tell the health of {name}")
    faults = list(faults_of(log))
    faults += [f"{log.media_errors} media errors"] if log.media_errors else []
    return faults + (["worn out"] if log.used_percent >= _WORN_OUT_PERCENT else [])


READERS: dict[str, Reader] = {
    "degraded_arrays": degraded_arrays,
    "nvme_count": nvme_count,
    "drive_firmware_versions": drive_firmware_versions,
    "failing_drives": failing_drives,
}
