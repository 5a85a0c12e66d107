"""STREAM's report. MB/s are decimal; the exit code is 0 even when the data came out wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass

from burnin.hardware_tests.parsers.number import amount, count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

KERNELS = ("Copy", "Scale", "Add", "Triad")
MIN_TICKS = 20  # STREAM's own rule for a time that can be trusted

_NUMBER = r"(\S+)"
_ROW = re.compile(rf"(Copy|Scale|Add|Triad):\s+{_NUMBER}\s+{_NUMBER}\s+{_NUMBER}\s+{_NUMBER}\s*")
_BANNER = re.compile(r"STREAM version \$Revision: (\S+) \$")
_ELEMENTS = re.compile(r"Array size = (\d+) \(elements\)")
_ELEMENT_BYTES = re.compile(r"This system uses (\d+) bytes per")
_THREADS = re.compile(r"Number of Threads (?:counted|requested) = (\d+)")
_TICKS = re.compile(r"\(= (\d+) clock ticks\)")
_VALIDATES = "Solution Validates"
_FAILS = re.compile(r"Failed Validation on array (\w+)\[\]")


@dataclass(frozen=True)
class StreamKernel:
    """`best_mb_per_s` counts 1e6 bytes; the times are those of one pass."""

    best_mb_per_s: float
    mean_s: float
    shortest_s: float
    longest_s: float


@dataclass(frozen=True)
class StreamReport:
    """A run that reached its validation. `wrong_arrays` names those whose values came out wrong.

    `ticks` says how many clock ticks one pass takes, None where STREAM does not say.
    """

    version: str
    array_elements: int
    element_bytes: int
    threads: int | None
    ticks: int | None
    copy: StreamKernel
    scale: StreamKernel
    add: StreamKernel
    triad: StreamKernel
    wrong_arrays: tuple[str, ...]

    @property
    def validates(self) -> bool:
        return not self.wrong_arrays

    @property
    def array_bytes(self) -> int:
        return self.array_elements * self.element_bytes

    @property
    def is_too_short(self) -> bool:
        """By STREAM's own rule the passes are too short to be timed: the arrays are too small."""
        return self.ticks is not None and self.ticks < MIN_TICKS


def parse(text: str) -> StreamReport:
    """Return the report; raise ParseError when it stops before its validation."""
    banners = _BANNER.findall(text)
    if not banners:
        raise _no_report(text)
    if len(banners) > 1:
        raise ParseError(
            f"{len(banners)} STREAM reports in one output", kind=RefusalKind.CONTRADICTORY
        )
    kernels = _kernels(text)
    threads, ticks = _THREADS.findall(text), _TICKS.search(text)
    return StreamReport(
        version=banners[0],
        array_elements=_needed(_ELEMENTS, text, "array size"),
        element_bytes=_needed(_ELEMENT_BYTES, text, "element size"),
        threads=count(threads[-1], "threads") if threads else None,
        ticks=count(ticks[1], "clock ticks") if ticks else None,
        copy=kernels["Copy"],
        scale=kernels["Scale"],
        add=kernels["Add"],
        triad=kernels["Triad"],
        wrong_arrays=_wrong_arrays(text),
    )


def _no_report(text: str) -> ParseError:
    if not text.strip():
        return ParseError("empty output: STREAM wrote nothing", kind=RefusalKind.NO_DATA)
    if text.lstrip().startswith("-----"):
        return ParseError("the STREAM report is cut in its head", kind=RefusalKind.TRUNCATED)
    line = text.strip().splitlines()[-1]
    return ParseError(f"not a STREAM report: {line:.200}", kind=RefusalKind.MALFORMED)


def _kernels(text: str) -> dict[str, StreamKernel]:
    found: dict[str, StreamKernel] = {}
    for row in filter(None, map(_ROW.fullmatch, text.splitlines())):
        if row[1] in found:
            raise ParseError(f"STREAM prints {row[1]} twice", kind=RefusalKind.CONTRADICTORY)
        rate, mean_s, shortest_s, longest_s = (amount(word, row[1]) for word in row.groups()[1:])
        found[row[1]] = StreamKernel(rate, mean_s, shortest_s, longest_s)
    missing = [kernel for kernel in KERNELS if kernel not in found]
    if missing:
        raise ParseError(
            f"the STREAM report has no result for {', '.join(missing)}", kind=RefusalKind.TRUNCATED
        )
    return found


def _needed(pattern: re.Pattern[str], text: str, what: str) -> int:
    found = pattern.search(text)
    if found is None:
        raise ParseError(f"the STREAM report has no {what}", kind=RefusalKind.MALFORMED)
    return count(found[1], what)


def _wrong_arrays(text: str) -> tuple[str, ...]:
    wrong = tuple(_FAILS.findall(text))
    validates = f"\n{_VALIDATES}: " in text
    if validates and wrong:
        raise ParseError(
            f"STREAM says its solution validates and fails array {wrong[0]}",
            kind=RefusalKind.CONTRADICTORY,
        )
    if not validates and not wrong:
        raise ParseError(
            "the STREAM report ends before its validation: unchecked is not valid",
            kind=RefusalKind.TRUNCATED,
        )
    return wrong
