"""Sizes of the machine, its filesystems and its clock."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean

from pydantic import Field

from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers.number import amount
from burnin.hardware_tests.single_node.health.section import (
    Count,
    Found,
    FromNode,
    Reader,
    Section,
    listed,
)


class _Size(FromNode):
    size_bytes: int = Field(alias="bytes", gt=0)


class _SomeCount(FromNode):
    count: int = Field(gt=0)


class _ClockOffset(FromNode):
    offset_s: float


class _Filesystem(FromNode):
    path: str
    writable: bool
    error: str | None = None
    free_bytes: int | None = Field(default=None, ge=0)
    size_bytes: int | None = Field(default=None, ge=0)


class _Siblings(FromNode):
    siblings: list[str] = Field(min_length=1)


class _Clocks(FromNode):
    clocks: list[str] = Field(min_length=1)


def gibibytes(section: Section) -> Found:
    return section.shaped(_Size).size_bytes / 1024**3, ""


def some(section: Section) -> Found:
    return section.shaped(_SomeCount).count, ""


def count(section: Section) -> Found:
    return section.shaped(Count).count, ""


def cpu_cores(section: Section) -> Found:
    """Count the cores: the threads of one tell the same list of siblings."""
    return len(set(section.shaped(_Siblings).siblings)), ""


def threads_per_core(section: Section) -> Found:
    """Return the threads that the cores have in common. Raises NotMeasured where they differ."""
    siblings = section.shaped(_Siblings).siblings
    counts = {siblings.count(each) for each in siblings}
    if len(counts) > 1:
        raise NotMeasured(f"cores have {' or '.join(map(str, sorted(counts)))} threads")
    return counts.pop(), ""


def cpu_clock(section: Section) -> Found:
    """Return the mean clock in MHz, as gcm does: one idle CPU may rest."""
    clocks = [amount(each, "a CPU's clock") for each in section.shaped(_Clocks).clocks]
    return mean(clocks), f"{min(clocks):.0f} to {max(clocks):.0f} MHz"


def clock_offset(section: Section) -> Found:
    offset_s = section.shaped(_ClockOffset).offset_s
    return abs(offset_s) * 1e3, "the node is " + ("ahead" if offset_s > 0 else "behind")


def unwritable_filesystems(section: Section) -> Found:
    bad = [each for each in _filesystems(section) if not each.writable]
    return len(bad), "; ".join(f"{each.path}: {each.error or 'no reason given'}" for each in bad)


def unmounted_filesystems(section: Section) -> Found:
    """Count directories that were asked for and hold their parent's files."""
    mounted = section.shaped(dict[str, bool])
    _refuse_others(list(mounted), section.asked.filesystems)
    return listed([path for path, is_mounted in mounted.items() if not is_mounted])


def disk_space(section: Section) -> Found:
    shares = {each.path: _free_percent(each) for each in _filesystems(section)}
    fullest = min(shares, key=lambda path: shares[path])
    return shares[fullest], fullest


def _filesystems(section: Section) -> list[_Filesystem]:
    found = section.shaped(list[_Filesystem])
    _refuse_others([each.path for each in found], section.asked.filesystems)
    return found


def _free_percent(filesystem: _Filesystem) -> float:
    free, size = filesystem.free_bytes, filesystem.size_bytes
    if free is not None and size and free <= size:
        return 100 * free / size
    if filesystem.writable:
        raise NotMeasured(
            f"the free space of {filesystem.path} could not be read: {free} of {size} bytes"
        )
    return 0  # nothing can be put where nothing can be written


def _refuse_others(reported: Sequence[str], asked: Sequence[str]) -> None:
    """Raise NotMeasured unless each filesystem that was asked for was looked at, once."""
    gone, more = sorted(set(asked) - set(reported)), sorted(set(reported) - set(asked))
    twice = sorted({path for path in reported if reported.count(path) > 1})
    if gone:
        raise NotMeasured(f"{', '.join(gone)} was asked for, but node-health.json lacks it")
    if more:
        raise NotMeasured(f"{', '.join(more)} was not asked for, but node-health.json has it")
    if twice:
        raise NotMeasured(f"node-health.json has {', '.join(twice)} twice")


READERS: dict[str, Reader] = {
    "memory_size": gibibytes,
    "cpu_count": some,
    "filesystems": unwritable_filesystems,
    "unmounted_filesystems": unmounted_filesystems,
    "disk_space": disk_space,
    "cpu_cores": cpu_cores,
    "threads_per_core": threads_per_core,
    "cpu_clock": cpu_clock,
    "clock_offset": clock_offset,
    "cpu_sockets": some,
    "shared_memory": gibibytes,
    "large_free_blocks": count,
    "numa_balancing": count,
}
