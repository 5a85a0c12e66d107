"""Memory modules, settings of the operating system, and what it says of itself."""

from __future__ import annotations

import re

from pydantic import Field

from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers.number import amount
from burnin.hardware_tests.single_node.health.section import (
    AtBothEnds,
    Found,
    FromNode,
    Reader,
    Section,
    growth,
    listed,
)

STEADY_CLOCKS = ("tsc", "arch_sys_counter")
_SYNCHRONISED = ("Normal", "Insert second", "Delete second")
_MODULE = re.compile(r"^Memory Device\n((?:\t.*\n)+)", re.MULTILINE)
_MODULE_SIZE = re.compile(r"^\tSize: (.+)$", re.MULTILINE)
_UNFIT_STATES = ("DOWN", "DRAIN", "DRAINING", "DRAINED", "FAIL", "FAILING", "NOT_RESPONDING")


class _MemoryErrors(FromNode):
    ue_count: int = Field(ge=0)
    ce_count: int = Field(ge=0)


class _Name(FromNode):
    name: str = Field(min_length=1)


class _Devices(FromNode):
    devices: list[str]


class _Limit(FromNode):
    limit_bytes: int | None = Field(ge=0)


class _Processes(FromNode):
    processes: list[str]


_Controllers = AtBothEnds[dict[str, _MemoryErrors]]


def dimm_count(section: Section) -> Found:
    modules = _MODULE.findall(section.said().text)
    sizes = [size for module in modules for size in _MODULE_SIZE.findall(module)]
    if not modules or len(sizes) != len(modules):
        raise NotMeasured(f"dmidecode lists no memory module: {section.said().words}")
    seated = [size for size in sizes if size != "No Module Installed"]
    kinds = ", ".join(f"{seated.count(size)} of {size}" for size in sorted(set(seated)))
    return len(seated), kinds


def uncorrected_memory_errors(section: Section) -> Found:
    """Since the kernel started: such an error does not age."""
    counts = section.shaped(_Controllers).after
    bad = {name: each.ue_count for name, each in counts.items() if each.ue_count}
    return sum(bad.values()), ", ".join(f"{name}: {number}" for name, number in bad.items())


def new_corrected_memory_errors(section: Section) -> Found:
    ends = section.shaped(_Controllers)
    before, after = (
        {name: each.ce_count for name, each in end.items()} for end in (ends.before, ends.after)
    )
    return growth(before, after, "corrected errors")


def unsteady_cpus(section: Section) -> Found:
    governors = section.shaped(dict[str, str])
    if not governors:
        raise NotMeasured("no CPU tells its governor")
    return listed([f"{cpu}: {name}" for cpu, name in governors.items() if name != "performance"])


def odd_clock_source(section: Section) -> Found:
    name = section.shaped(_Name).name
    return int(name not in STEADY_CLOCKS), name


def swap_devices(section: Section) -> Found:
    return listed(section.shaped(_Devices).devices)


def limited_locked_memory(section: Section) -> Found:
    limit_bytes = section.shaped(_Limit).limit_bytes
    return (0, "unlimited") if limit_bytes is None else (1, f"{limit_bytes / 1024**3:.3g} GiB")


def stuck_processes(section: Section) -> Found:
    return listed(section.shaped(_Processes).processes)


def time_offset(section: Section) -> Found:
    """Read `chronyc -c tracking`: fields 1, 4 and 13 are the source, the offset and the leap."""
    said = section.said()
    fields = said.text.strip().split(",")
    if len(fields) != 14:
        raise NotMeasured(f"chronyc does not tell its offset: {said.words or said.text[:200]}")
    if fields[13] not in _SYNCHRONISED:
        raise NotMeasured(f"chrony is not synchronised: {fields[13]}")
    return amount(fields[4].lstrip("+-"), "chrony's offset") * 1e3, f"against {fields[1]}"


def slurm_complaints(section: Section) -> Found:
    said = section.said()
    found = re.search(r"\bState=(\S+)", said.text)
    if found is None:
        raise NotMeasured(f"scontrol does not tell the node's state: {said.words}")
    states = re.split(r"[+]", found[1].rstrip("*~#!%$@^-"))
    bad = [state for state in states if state in _UNFIT_STATES]
    bad += ["NOT_RESPONDING"] if found[1].endswith("*") else []
    return listed(bad)


READERS: dict[str, Reader] = {
    "dimm_count": dimm_count,
    "uncorrected_memory_errors": uncorrected_memory_errors,
    "new_corrected_memory_errors": new_corrected_memory_errors,
    "unsteady_cpus": unsteady_cpus,
    "odd_clock_source": odd_clock_source,
    "swap_devices": swap_devices,
    "limited_locked_memory": limited_locked_memory,
    "stuck_processes": stuck_processes,
    "time_offset": time_offset,
    "slurm_complaints": slurm_complaints,
}
