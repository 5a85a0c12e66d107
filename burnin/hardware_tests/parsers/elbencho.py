"""elbencho's console results, one block a phase.

FIRST DONE is when the first worker was through, LAST DONE when all were: the end result.
Its "MiB/s" is 2^20 bytes, "MB/s" (--base10) 10^6.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from burnin.hardware_tests.parsers.json_report import last_line
from burnin.hardware_tests.parsers.number import amount, count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_HEADER = re.compile(r"^OPERATION +RESULT TYPE +FIRST DONE +LAST DONE *\n", re.MULTILINE)
# A line without its end may be cut in the middle of a number.
_LINE = re.compile(r"^([A-Z][A-Z0-9]*)? *(\S[^:\n]*?) +: +(\S+)(?: +(\S+))? *\n", re.MULTILINE)
_TIME_PART = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)(h|ms|m|us|s)")
_SECONDS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "us": 1e-6}
_SPEEDS = {"Throughput MiB/s": 1 << 20, "Throughput MB/s": 1_000_000}
_ENTRIES = ("Files", "Dirs", "Objects", "Buckets", "Entries")
_ERROR = re.compile(r"^ERROR: (.+)$", re.MULTILINE)
_WRONG_DATA = re.compile(r"verification failed", re.IGNORECASE)
_IO_WORDS = re.compile(r"SysErr: (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class ElbenchoPhase:
    """One phase, when its last worker was done. None where the phase has no such figure."""

    operation: str
    elapsed_s: float
    bytes_per_s: float | None
    moved_bytes: float | None
    operations_per_s: float | None
    entries_per_s: float | None


@dataclass(frozen=True)
class ElbenchoReport:
    """`verification_errors` are the tool's words about data that came back wrong."""

    phases: tuple[ElbenchoPhase, ...]
    verification_errors: tuple[str, ...]

    def of(self, operation: str) -> ElbenchoPhase:
        """Return the phase "WRITE", "READ" and the like; raise ParseError if it is not there."""
        for phase in self.phases:
            if phase.operation == operation:
                return phase
        raise ParseError(f"elbencho did no {operation}", kind=RefusalKind.NO_DATA)


def parse(text: str) -> ElbenchoReport:
    """Return all phases; raise ParseError where one failed or is cut."""
    if not text.strip():
        raise ParseError("empty output: elbencho wrote nothing", kind=RefusalKind.NO_DATA)
    errors = tuple(_ERROR.findall(text))
    wrong = tuple(line for line in errors if _WRONG_DATA.search(line))
    if errors and not wrong:
        raise _failure(errors[0])
    header = _HEADER.search(text)
    if header is None:
        words = f"elbencho's output has no results: {last_line(text)}"
        raise ParseError(words, kind=RefusalKind.MALFORMED)
    blocks = _blocks(text[header.end() :])
    if not blocks and not wrong:
        raise ParseError("elbencho's output has no phase", kind=RefusalKind.TRUNCATED)
    # After wrong data, the phase it was found in has no results.
    phases = tuple(_phase(operation, lines) for operation, lines in blocks)
    return ElbenchoReport(phases, wrong)


def _failure(line: str) -> ParseError:
    cause = _IO_WORDS.search(line)
    if cause:
        return ParseError(f"{cause[1]}; no phase result", kind=RefusalKind.IO_ERROR)
    is_usage = re.search(r"option|argument|parameter", line, re.IGNORECASE)
    return ParseError(line, kind=RefusalKind.USAGE if is_usage else RefusalKind.TOOL_ERROR)


def _blocks(text: str) -> list[tuple[str, dict[str, str]]]:
    """Collect each phase's lines by result type; the last column is LAST DONE."""
    found: list[tuple[str, dict[str, str]]] = []
    for operation, result, first, last in _LINE.findall(text):
        if operation:
            found.append((operation, {}))
        if found and not first.startswith("["):
            found[-1][1][result] = last
    return found


def _phase(operation: str, lines: dict[str, str]) -> ElbenchoPhase:
    _refuse_cut(operation, lines)
    speed = next(((lines[name], unit) for name, unit in _SPEEDS.items() if name in lines), None)
    where = f"elbencho's {operation}"
    entries = _number(lines, [f"{kind}/s" for kind in _ENTRIES], where)
    operations = _number(lines, ["IOPS"], where)
    return ElbenchoPhase(
        operation=operation,
        elapsed_s=_seconds(lines["Elapsed time"], where),
        bytes_per_s=amount(speed[0], where) * speed[1] if speed else None,
        moved_bytes=count(lines["Total MiB"], where) * (1 << 20) if speed else None,
        operations_per_s=operations,
        entries_per_s=entries,
    )


def _refuse_cut(operation: str, lines: dict[str, str]) -> None:
    """Each rate is followed by what it is made of, the bytes before the entries."""
    has_bytes = any(name in lines for name in _SPEEDS)
    entries = [kind for kind in _ENTRIES if f"{kind}/s" in lines]
    complete = (
        "Elapsed time" in lines
        and has_bytes == ("Total MiB" in lines)
        and (has_bytes or "IOPS" not in lines)
        and all(f"{kind} total" in lines for kind in entries)
        and (has_bytes or bool(entries))
    )
    if not complete:
        raise ParseError(f"elbencho's {operation} phase is cut", kind=RefusalKind.TRUNCATED)


def _number(lines: dict[str, str], names: list[str], where: str) -> float | None:
    return next((amount(lines[name], where) for name in names if name in lines), None)


def _seconds(word: str, where: str) -> float:
    """Read "2m5.755s" or "131ms"."""
    parts = _TIME_PART.findall(word)
    if not parts or "".join(number + unit for number, unit in parts) != word:
        raise ParseError(f"{where}: '{word:.40}' is no duration", kind=RefusalKind.MALFORMED)
    return sum(amount(number, where) * _SECONDS[unit] for number, unit in parts)
