"""stressapptest's log. Its Status line decides: the exit code is 1 for a fault and for a mishap.

The tool's "M" and "MB/s" are binary (1024 * 1024 bytes), and a byte copied counts twice: read
and written.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

MIB = 1024 * 1024

_STATUS = re.compile(r"^.*?Status: (PASS|FAIL) - (.+)$", re.MULTILINE)
_STARTING = re.compile(r"Stats: Starting SAT, (\d+)M, (\d+) seconds")
_COMPLETED = re.compile(
    r"Stats: Completed: ([\d.]+)M in ([\d.]+)s ([\d.]+)MB/s, "
    r"with (\d+) hardware incidents, (\d+) errors"
)
_MEMORY_COPY = re.compile(r"Stats: Memory Copy: ([\d.]+)M at ([\d.]+)MB/s")
_REVISION = re.compile(r"SAT revision (\S+),")
_FAULT_LINE = re.compile(r"(?:Hardware|Report) Error: .*")
_MISHAP_LINE = re.compile(r"Process Error: .*")
_EARLY_EXIT = re.compile(r"User exiting early \((\d+) seconds remaining\)")

_FOUND_FAULTS = "test discovered HW problems"


@dataclass(frozen=True)
class StressapptestReport:
    """A run that reached its Status line with a result: passed, or found hardware incidents.

    `elapsed_s` may be far below `requested_s`: an interrupted run prints Status: PASS all the same.
    """

    version: str
    passed: bool
    hardware_incidents: int
    procedural_errors: int
    tested_bytes: int
    requested_s: int
    elapsed_s: float
    moved_bytes: float
    copy_bytes_per_s: float
    fault_lines: tuple[str, ...]
    stopped_early: bool


def parse(text: str) -> StressapptestReport:
    """Return the report; raise ParseError when it stops before its Status, or errors it."""
    passed = _passed(text)
    tested_mib, requested_s = _numbers(_STARTING, text, "Starting SAT")
    moved_mib, elapsed_s, _, incidents, errors = _numbers(_COMPLETED, text, "Completed")
    copy_mib_per_s = _numbers(_MEMORY_COPY, text, "Memory Copy")[1]
    revision = _REVISION.search(text)
    report = StressapptestReport(
        version=revision[1] if revision else "unknown",
        passed=passed,
        hardware_incidents=int(incidents),
        procedural_errors=int(errors),
        tested_bytes=int(tested_mib) * MIB,
        requested_s=int(requested_s),
        elapsed_s=elapsed_s,
        moved_bytes=moved_mib * MIB,
        copy_bytes_per_s=copy_mib_per_s * MIB,
        fault_lines=tuple(_FAULT_LINE.findall(text)),
        stopped_early=_EARLY_EXIT.search(text) is not None,
    )
    _refuse_contradictions(report)
    return report


def _passed(text: str) -> bool:
    """Read the Status line, of which there must be exactly one."""
    if not text.strip():
        raise ParseError("empty output: stressapptest wrote nothing", kind=RefusalKind.NO_DATA)
    found = _STATUS.findall(text)
    if not found:
        raise _refusal_without_status(text)
    if len(found) > 1:
        raise ParseError(
            f"{len(found)} Status lines in one stressapptest log", kind=RefusalKind.CONTRADICTORY
        )
    word, why = found[0]
    if word == "FAIL" and why.strip() != _FOUND_FAULTS:
        raise ParseError(_mishap(text, why.strip()), kind=RefusalKind.TOOL_ERROR)
    return bool(word == "PASS")


def _refusal_without_status(text: str) -> ParseError:
    if "SAT revision" not in text:
        line = text.strip().splitlines()[-1]
        return ParseError(f"not a stressapptest log: {line[:200]}", kind=RefusalKind.MALFORMED)
    if _STARTING.search(text) is None and "Usage:" in text:
        return ParseError(
            "stressapptest did not understand its command line", kind=RefusalKind.USAGE
        )
    return ParseError(
        "the stressapptest log ends before its Status line", kind=RefusalKind.TRUNCATED
    )


def _mishap(text: str, why: str) -> str:
    """Say what went wrong in the tool's words, and what it had found by then."""
    mishap = _MISHAP_LINE.search(text)
    incidents = len(re.findall(r"Hardware Error: ", text))
    found = f", after {incidents} hardware errors" if incidents else ""
    return f"stressapptest: {why}{found}" + (f" ({mishap[0].strip()})" if mishap else "")


def _numbers(pattern: re.Pattern[str], text: str, line: str) -> tuple[float, ...]:
    found = pattern.findall(text)
    if len(found) != 1:
        raise ParseError(
            f"the stressapptest log has {len(found)} '{line}' lines, needs exactly one",
            kind=RefusalKind.TRUNCATED if not found else RefusalKind.CONTRADICTORY,
        )
    return tuple(_number(word, line) for word in found[0])


def _number(word: str, line: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ParseError(
            f"'{word:.40}' in the '{line}' line of the stressapptest log is no number",
            kind=RefusalKind.MALFORMED,
        )
    return number


def _refuse_contradictions(report: StressapptestReport) -> None:
    if report.passed != (report.hardware_incidents == 0):
        status = "PASS" if report.passed else "FAIL"
        raise ParseError(
            f"stressapptest says {status} and counts {report.hardware_incidents} "
            "hardware incidents",
            kind=RefusalKind.CONTRADICTORY,
        )
    if report.passed and (report.fault_lines or report.procedural_errors):
        raise ParseError(
            "stressapptest says PASS and prints errors: "
            + (report.fault_lines[0] if report.fault_lines else str(report.procedural_errors)),
            kind=RefusalKind.CONTRADICTORY,
        )
