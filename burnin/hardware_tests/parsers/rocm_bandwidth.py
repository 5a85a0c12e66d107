"""rocm-bandwidth-test 2 (`-a`, `-A`, `-v`): copies between every two devices, CPUs first.

Its forms stand in ROCm/rocm_bandwidth_test, rocm_bandwidth_test_report.cpp and _print.cpp: rows are
sources, columns targets, "N/A" where a copy makes no sense or is not possible. It has no end mark:
a matrix has as many rows as devices, and a run of both directions has both.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from burnin.hardware_tests.parsers.number import amount, count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

Cell = TypeVar("Cell")

_VERSION = re.compile(r"RocmBandwidthTest Version: (\S+)")
_DEVICE = re.compile(r"Device: (\d{1,4}), +(.+?)")
_BUS_ID = re.compile(r"(.+?),(?: +[^,]*,)? +((?:[0-9a-fA-F]{4,8}:)?[0-9a-fA-F]{1,2}:\S+\.\d)")
_ONE_WAY = re.compile(r"Unidirectional copy (?:peak|average) bandwidth GB/s")
_BOTH_WAYS = re.compile(r"Bi?directional copy (?:peak|average) bandwidth GB/s")
_CHECK = re.compile(r"Data Path Validation")
_HEADER = re.compile(r"D/D(?: +\d{1,4})+")
_ABSENT = "N/A"
_BOTH_ASKED = "-a + rocm_bandwidth -A"


@dataclass(frozen=True)
class BandwidthDevice:
    """A CPU's memory or a GPU; only a GPU has a bus id."""

    index: int
    name: str
    bus_id: str | None

    @property
    def is_gpu(self) -> bool:
        return self.bus_id is not None


@dataclass(frozen=True)
class Copy:
    """A copy between two devices. A copy within a GPU is counted once."""

    source: int
    target: int
    gb_per_s: float


@dataclass(frozen=True)
class PathCheck:
    """Whether what was copied from one device to another arrived as it was."""

    source: int
    target: int
    passed: bool


@dataclass(frozen=True)
class RocmBandwidthReport:
    """What of the three was asked for; what is not possible is in none of them."""

    version: str
    devices: tuple[BandwidthDevice, ...]
    one_way: tuple[Copy, ...]
    both_ways: tuple[Copy, ...]
    checks: tuple[PathCheck, ...]

    @property
    def gpus(self) -> tuple[BandwidthDevice, ...]:
        return tuple(device for device in self.devices if device.is_gpu)


def parse(text: str) -> RocmBandwidthReport:
    """Return the report; raise ParseError when a matrix of it is missing or not whole."""
    lines = [line.strip() for line in text.splitlines()]
    version = [found[1] for line in lines if (found := _VERSION.fullmatch(line))]
    if len(version) != 1:
        raise _refusal(text, len(version))
    if not text.endswith("\n"):
        raise _cut("its last line has no end")
    devices = tuple(_device(found) for line in lines if (found := _DEVICE.fullmatch(line)))
    if not devices or [device.index for device in devices] != list(range(len(devices))):
        raise ParseError("rocm-bandwidth-test lists no devices", kind=RefusalKind.NO_DEVICE)
    one_way = _matrix(lines, _ONE_WAY, len(devices))
    both_ways = _matrix(lines, _BOTH_WAYS, len(devices))
    checks = _matrix(lines, _CHECK, len(devices))
    if not (one_way or both_ways or checks) or (_BOTH_ASKED in text and not both_ways):
        raise _cut("it lacks a matrix")
    return RocmBandwidthReport(
        version=version[0],
        devices=devices,
        one_way=_copies(one_way),
        both_ways=_copies(both_ways),
        checks=_cells(checks, _check),
    )


def _refusal(text: str, versions: int) -> ParseError:
    if not text.strip():
        return ParseError(
            "empty output: rocm-bandwidth-test wrote nothing", kind=RefusalKind.NO_DATA
        )
    if versions:
        return ParseError(
            "two runs of rocm-bandwidth-test in one output", kind=RefusalKind.CONTRADICTORY
        )
    last = text.strip().splitlines()[-1]
    return ParseError(
        f"not an output of rocm-bandwidth-test 2: {last:.200}", kind=RefusalKind.MALFORMED
    )


def _cut(why: str) -> ParseError:
    return ParseError(
        f"the output of rocm-bandwidth-test is cut: {why}", kind=RefusalKind.TRUNCATED
    )


def _device(found: re.Match[str]) -> BandwidthDevice:
    placed = _BUS_ID.fullmatch(found[2])
    return BandwidthDevice(
        index=count(found[1], "Device"),
        name=placed[1] if placed else found[2],
        bus_id=placed[2] if placed else None,
    )


def _matrix(lines: list[str], title: re.Pattern[str], size: int) -> list[list[str]]:
    """Return the words of the matrix below its title, row by row; [] without that title."""
    titles = [at for at, line in enumerate(lines) if title.fullmatch(line)]
    if not titles:
        return []
    if len(titles) > 1:
        raise ParseError(
            f"rocm-bandwidth-test prints '{lines[titles[0]]}' more than once",
            kind=RefusalKind.CONTRADICTORY,
        )
    below = [line for line in lines[titles[0] + 1 :] if line][: size + 1]
    if len(below) != size + 1:
        raise _cut(f"'{lines[titles[0]]}' has {len(below)} lines, not {size + 1}")
    header, *rows = (line.split() for line in below)
    indices = [str(index) for index in range(size)]
    if not _HEADER.fullmatch(below[0]) or header[1:] != indices:
        raise ParseError(
            f"rocm-bandwidth-test heads a matrix with '{below[0]:.80}'", kind=RefusalKind.MALFORMED
        )
    if [row[0] for row in rows] != indices or any(len(row) != size + 1 for row in rows):
        raise ParseError(
            f"a row below '{lines[titles[0]]}' is not whole", kind=RefusalKind.MALFORMED
        )
    return [row[1:] for row in rows]


def _copies(matrix: list[list[str]]) -> tuple[Copy, ...]:
    return _cells(matrix, lambda source, target, word: Copy(source, target, amount(word, "GB/s")))


def _check(source: int, target: int, word: str) -> PathCheck:
    if word not in ("PASS", "FAIL"):
        raise ParseError(
            f"rocm-bandwidth-test says '{word:.40}' of a path", kind=RefusalKind.MALFORMED
        )
    return PathCheck(source, target, word == "PASS")


def _cells(matrix: list[list[str]], read: Callable[[int, int, str], Cell]) -> tuple[Cell, ...]:
    return tuple(
        read(source, target, word)
        for source, row in enumerate(matrix)
        for target, word in enumerate(row)
        if word != _ABSENT
    )
