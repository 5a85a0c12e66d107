"""fio's report in text form: the sums of each group, rounded as fio rounds them.

No test judges by it, for its digits are few and its percentiles change their unit from line to
line. It is read for people who have nothing else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from burnin.hardware_tests.parsers import fio
from burnin.hardware_tests.parsers.number import amount, count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_VERSION = re.compile(r"^(fio-\d\S*)$", re.MULTILINE)
_JOB = re.compile(r"^(.+): \(groupid=(\d+), jobs=(\d+)\): err= *(\d+)", re.MULTILINE)
_DIRECTION = re.compile(r"^  (read|write|trim): IOPS=", re.MULTILINE)
_GROUP = re.compile(r"^Run status group \d+ \(all jobs\):$", re.MULTILINE)
_SUM = re.compile(
    r"^ +(READ|WRITE|TRIM): bw=([\d.]+)([KMGT]?i?)B/s .*"
    r" io=([\d.]+)([KMGT]?i?)B .* run=(\d+)-(\d+)msec$",
    re.MULTILINE,
)
_FACTORS: dict[str, int] = {
    **{prefix: 1000**power for power, prefix in enumerate(("", "K", "M", "G", "T"))},
    **{f"{prefix}i": 1024**power for power, prefix in enumerate("KMGT", start=1)},
}


@dataclass(frozen=True)
class FioTextJob:
    """One job or group; `error` is an errno, 0 for none."""

    name: str
    group_id: int
    processes: int
    error: int


@dataclass(frozen=True)
class FioTextSum:
    """What one direction of a group moved: "READ", "WRITE" or "TRIM"."""

    direction: str
    bytes_per_s: float
    io_bytes: float
    longest_run_s: float


@dataclass(frozen=True)
class FioTextReport:
    version: str
    jobs: tuple[FioTextJob, ...]
    sums: tuple[FioTextSum, ...]


def parse_either(text: str) -> fio.FioReport | FioTextReport:
    """Read a report in JSON or, where there is none, in text; raise ParseError."""
    try:
        return fio.parse(text)
    except ParseError as refusal:
        if refusal.kind is not RefusalKind.TEXT_REPORT:
            raise
        return parse(text)


def parse(text: str) -> FioTextReport:
    """Return the text report; raise ParseError where it stops before its sums are complete."""
    jobs = tuple(
        FioTextJob(name, count(group, name), count(processes, name), count(error, name))
        for name, group, processes, error in _JOB.findall(text)
    )
    sums = tuple(_sum(*found) for found in _SUM.findall(text))
    version = _VERSION.search(text)
    if version is None or not jobs:
        raise ParseError("this is no text report of fio", kind=RefusalKind.MALFORMED)
    _refuse_incomplete(text, sums)
    return FioTextReport(version[1], jobs, sums)


def _sum(
    direction: str, speed: str, unit: str, moved: str, moved_unit: str, *runs: str
) -> FioTextSum:
    where = f"fio's {direction} line"
    return FioTextSum(
        direction=direction,
        bytes_per_s=amount(speed, where) * _factor(unit, where),
        io_bytes=amount(moved, where) * _factor(moved_unit, where),
        longest_run_s=max(count(run, where) for run in runs) / 1e3,
    )


def _factor(prefix: str, where: str) -> float:
    if prefix not in _FACTORS:
        raise ParseError(f"{where} has the unit {prefix}B", kind=RefusalKind.MALFORMED)
    return _FACTORS[prefix]


def _refuse_incomplete(text: str, sums: tuple[FioTextSum, ...]) -> None:
    """Every group has a line for each direction that its jobs moved something in."""
    groups = {group for _, group, _, _ in _JOB.findall(text)}
    moved = {direction.upper() for direction in _DIRECTION.findall(text)}
    summed = {each.direction for each in sums}
    if len(_GROUP.findall(text)) != len(groups) or moved != summed or not sums:
        raise ParseError("fio's text report stops before its sums", kind=RefusalKind.TRUNCATED)
