"""nvbandwidth's text report: each matrix under its title, its SUM below it from version 0.2 on."""

from __future__ import annotations

import math
import re

from burnin.hardware_tests.parsers.number import amount
from burnin.hardware_tests.parsers.nvbandwidth_report import (
    BandwidthCase,
    CaseStatus,
    NvbandwidthReport,
)
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_VERSION = re.compile(r"nvbandwidth Version: v?(\S+)", re.MULTILINE)
_DRIVER = re.compile(r"^Driver Version: (\S+)", re.MULTILINE)
_RUNNING = re.compile(r"Running (\w+)\.")
_TITLE = re.compile(r".*\((GB/s|ns)\)")
_STATUS = re.compile(r"(Waived|ERROR|Error|Not Found):(.*)")
_SUM = re.compile(r"SUM (\w+) (\S+)")
_ERROR = re.compile(r"(?:\[?CUDA_ERROR_\w+|.*\bin expression\b).*")
WRONG_DATA = "Invalid value when checking the pattern"
_NOTE = "NOTE: The reported results may not reflect the full capabilities"
_ENDS_WITH_NOTE = (0, 5)
_ROUNDING = 0.005  # of each printed cell, and of the sum


def parse(text: str) -> NvbandwidthReport:
    """Return the report; raise ParseError on an error of the tool or a cut output."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        raise ParseError("empty output: nvbandwidth wrote nothing", kind=RefusalKind.NO_DATA)
    error = next((line for line in lines if _ERROR.match(line)), None)
    if error is not None:
        raise ParseError(f"nvbandwidth: {error:.300}", kind=RefusalKind.ERROR)
    cases = _cases(lines)
    version, driver = _VERSION.search(text), _DRIVER.search(text)
    if not cases and version is None:
        raise ParseError(f"not an nvbandwidth output: {lines[-1]:.200}", kind=RefusalKind.MALFORMED)
    if not cases or not text.endswith("\n") or _lacks_note(version, text):
        raise ParseError("the nvbandwidth output is cut", kind=RefusalKind.TRUNCATED)
    return NvbandwidthReport(
        version=f"v{version[1]}" if version else None,
        driver_version=driver[1] if driver else None,
        cases=cases,
    )


def stopped_at_wrong_data(text: str) -> NvbandwidthReport:
    """Return the report of a run that found its pattern damaged, and ended there."""
    running, wrong = "", []
    for line in text.splitlines():
        if started := _RUNNING.fullmatch(line.strip()):
            running = f"{started[1]}: "
        if WRONG_DATA in line:
            wrong.append(running + line[line.index(WRONG_DATA) :].strip()[:200])
    version, driver = _VERSION.search(text), _DRIVER.search(text)
    return NvbandwidthReport(
        version=f"v{version[1]}" if version else None,
        driver_version=driver[1] if driver else None,
        cases=(),
        wrong_data=tuple(dict.fromkeys(wrong)),
    )


def checked(case: BandwidthCase) -> BandwidthCase:
    """Return the case; raise ParseError where its sum is not that of its cells."""
    if case.total is None or case.status is not CaseStatus.PASSED:
        return case
    cells = [cell for row in case.matrix for cell in row if cell is not None]
    slack = _ROUNDING * (len(cells) + 1) + 1e-4 * case.total
    if not math.isclose(sum(cells), case.total, rel_tol=0, abs_tol=slack):
        raise ParseError(
            f"nvbandwidth's sum of {case.name} is {case.total:g}, that of its cells {sum(cells):g}",
            kind=RefusalKind.CONTRADICTORY,
        )
    return case


def _lacks_note(version: re.Match[str] | None, text: str) -> bool:
    """From version 0.5 on a note ends the output; before, its end cannot be told."""
    if version is None:
        return False
    parts = re.findall(r"\d{1,4}", version[1])
    numbers = tuple(int(part) for part in parts[:2])
    return numbers >= _ENDS_WITH_NOTE and _NOTE not in text


def _cases(lines: list[str]) -> tuple[BandwidthCase, ...]:
    starts = [
        index
        for index, line in enumerate(lines)
        if _RUNNING.fullmatch(line) or (_STATUS.fullmatch(line) and not _follows(lines, index))
    ]
    ends = [*starts[1:], len(lines)]
    return tuple(_case(lines[start:end]) for start, end in zip(starts, ends, strict=False))


def _follows(lines: list[str], index: int) -> bool:
    """Whether the status at this line is that of the case which was said to be running."""
    return index > 0 and _RUNNING.fullmatch(lines[index - 1]) is not None


def _case(block: list[str]) -> BandwidthCase:
    running = _RUNNING.fullmatch(block[0])
    name = running[1] if running else None
    status = next((found for line in block[:2] if (found := _STATUS.fullmatch(line))), None)
    if status is not None:
        return BandwidthCase(
            name=name,
            status=CaseStatus.ERROR if status[1] == "ERROR" else CaseStatus(status[1]),
            unit=None,
            rows=(),
            columns=(),
            matrix=(),
            total=None,
            message=status[2].strip(),
        )
    return _measured(name, block[1:])


def _measured(name: str | None, block: list[str]) -> BandwidthCase:
    titles = [index for index, line in enumerate(block) if _TITLE.fullmatch(line)]
    if len(titles) != 1 or len(block) < titles[0] + 3:
        raise ParseError(f"the matrix of {name} is not whole", kind=RefusalKind.TRUNCATED)
    title = _TITLE.fullmatch(block[titles[0]])
    columns = tuple(block[titles[0] + 1].split())
    rows = [line.split() for line in block[titles[0] + 2 :] if re.match(r"\d+\s", line)]
    total = next((found for line in block if (found := _SUM.fullmatch(line))), None)
    is_square = name is not None and name.startswith("device_to_device")
    if not rows or any(len(row) != len(columns) + 1 for row in rows):
        raise ParseError(f"a row of {name} is cut", kind=RefusalKind.TRUNCATED)
    if total is None and not (is_square and len(rows) == len(columns)):
        raise ParseError(f"{name} has no sum, and may lack rows", kind=RefusalKind.TRUNCATED)
    return checked(
        BandwidthCase(
            name=name,
            status=CaseStatus.PASSED,
            unit=title[1] if title else None,
            rows=tuple(row[0] for row in rows),
            columns=columns,
            matrix=tuple(
                tuple(None if cell == "N/A" else amount(cell, f"{name}") for cell in row[1:])
                for row in rows
            ),
            total=amount(total[2], "SUM") if total else None,
            message="",
        )
    )
