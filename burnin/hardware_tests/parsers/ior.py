"""IOR 3 and 4: its text, its CSV rows and its JSON. Its speeds are MiB/s, 2^20 bytes.

Data that came back wrong is a finding, not a refusal: `data_errors` counts it.
CSV has no end mark: a caller checks that the operations and repetitions it asked for are there.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import Any

from pydantic import Field

from burnin.hardware_tests.parsers import ior_words, json_report
from burnin.hardware_tests.parsers.json_report import Edge
from burnin.hardware_tests.parsers.number import amount, count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

MIB = 1 << 20

_ROW = re.compile(r"^(write|read) +[\d.]+ .*\n", re.MULTILINE)
_SUMMARY = re.compile(r"^Summary of all tests:\n(Operation .*)\n((?:(?:write|read) .*\n)+)", re.M)
_ASKS_FOR_A_CHECK = re.compile(r" -[a-zA-Z]*[WR][a-zA-Z]*(?= |$)")


@dataclass(frozen=True)
class IorRow:
    """One operation of one repetition; the time includes opening and closing the files."""

    operation: str
    repetition: int
    bytes_per_s: float
    total_s: float


@dataclass(frozen=True)
class IorSummary:
    """One operation over all repetitions."""

    operation: str
    max_bytes_per_s: float
    min_bytes_per_s: float
    mean_bytes_per_s: float


@dataclass(frozen=True)
class IorReport:
    """`data_errors` counts wrong data in the units IOR counts it in; None where it lost count.

    `checks_data` says whether IOR was asked to compare what it read: without, 0 data errors say
    nothing. None where the form of the report does not tell (CSV).
    """

    tasks: int
    repetitions: int
    rows: tuple[IorRow, ...]
    summaries: tuple[IorSummary, ...]
    data_errors: int | None
    checks_data: bool | None
    warnings: tuple[str, ...]

    def of(self, operation: str) -> IorSummary:
        """Return the summary of "write" or "read"; raise ParseError if it was not done."""
        for summary in self.summaries:
            if summary.operation == operation:
                return summary
        raise ParseError(f"IOR did no {operation}", kind=RefusalKind.NO_DATA)


class _Result(Edge):
    access: str
    bw_mib: float = Field(alias="bwMiB", ge=0)
    total_s: float = Field(alias="totalTime", ge=0)
    repetition: int = Field(alias="iter", ge=0)


class _Parameters(Edge):
    check_write: int = Field(alias="checkWrite", default=0)
    check_read: int = Field(alias="checkRead", default=0)


class _Test(Edge):
    parameters: _Parameters = Field(alias="Parameters")
    results: tuple[_Result, ...] = Field(alias="Results", min_length=1)


class _JsonSummary(Edge):
    operation: str
    tasks: int = Field(alias="numTasks", ge=1)
    repetitions: int = Field(ge=1)
    max_mib: float = Field(alias="bwMaxMIB", ge=0)
    min_mib: float = Field(alias="bwMinMIB", ge=0)
    mean_mib: float = Field(alias="bwMeanMIB", ge=0)


class _Json(Edge):
    version: str = Field(alias="Version")
    finished: str = Field(alias="Finished")
    tests: tuple[_Test, ...] = Field(min_length=1)
    summary: tuple[_JsonSummary, ...] = Field(min_length=1)


def parse(text: str) -> IorReport:
    """Return the report; raise ParseError where IOR failed or has not finished."""
    ior_words.refuse_failure(text)
    if text.lstrip().startswith("{"):
        return _from_json(text)
    if text.startswith("access,bw(MiB/s),"):
        return _from_csv(text)
    return _from_text(text)


def _from_text(text: str) -> IorReport:
    found = _SUMMARY.search(text)
    if found is None or not re.search(r"^Finished *: .+$", text, re.MULTILINE):
        raise ior_words.refusal_without_summary(text)
    table = [
        dict(zip(found[1].split(), line.split(), strict=False)) for line in found[2].splitlines()
    ]
    command = re.search(r"^Command line(?: used)? *: (.*)$", text, re.MULTILINE)
    report = IorReport(
        tasks=count(_cell(table[0], "#Tasks"), "IOR's #Tasks"),
        repetitions=count(_cell(table[0], "reps"), "IOR's reps"),
        rows=tuple(_text_row(row[0]) for row in _ROW.finditer(text[: found.start()])),
        summaries=tuple(_text_summary(line) for line in table),
        data_errors=ior_words.data_errors(text),
        checks_data=command is not None and _ASKS_FOR_A_CHECK.search(command[1]) is not None,
        warnings=ior_words.warnings(text),
    )
    _refuse_missing_rows(report)
    return report


def _text_summary(line: dict[str, str]) -> IorSummary:
    return IorSummary(
        operation=_cell(line, "Operation"),
        max_bytes_per_s=_speed(_cell(line, "Max(MiB)")),
        min_bytes_per_s=_speed(_cell(line, "Min(MiB)")),
        mean_bytes_per_s=_speed(_cell(line, "Mean(MiB)")),
    )


def _text_row(line: str) -> IorRow:
    words = line.split()
    return IorRow(
        operation=words[0],
        repetition=count(words[-1], "IOR's column iter"),
        bytes_per_s=_speed(words[1]),
        total_s=amount(words[-2], "IOR's column total"),
    )


def _speed(word: str) -> float:
    return amount(word, "IOR's bandwidth") * MIB


def _refuse_missing_rows(report: IorReport) -> None:
    """Every repetition of every operation has its row, and the summary is made of these."""
    for summary in report.summaries:
        speeds = [row.bytes_per_s for row in report.rows if row.operation == summary.operation]
        if len(speeds) != report.repetitions:
            raise ParseError(
                f"IOR did {report.repetitions} repetitions and shows {len(speeds)} "
                f"{summary.operation} rows",
                kind=RefusalKind.CONTRADICTORY,
            )
        if not abs(max(speeds) - summary.max_bytes_per_s) <= 0.01 * summary.max_bytes_per_s + MIB:
            raise ParseError(
                f"IOR's best {summary.operation} row is not its summary's maximum",
                kind=RefusalKind.CONTRADICTORY,
            )


def _from_csv(text: str) -> IorReport:
    if not text.endswith("\n"):
        raise ParseError("IOR's last CSV row is cut", kind=RefusalKind.TRUNCATED)
    records = list(csv.DictReader(text.splitlines()))
    if not records:
        raise ParseError("IOR's CSV has no row", kind=RefusalKind.NO_DATA)
    rows = tuple(_csv_row(record) for record in records)
    operations = dict.fromkeys(row.operation for row in rows)
    return IorReport(
        tasks=count(_cell(records[0], "numTasks"), "IOR's numTasks"),
        repetitions=max(row.repetition for row in rows) + 1,
        rows=rows,
        summaries=tuple(_summed(operation, rows) for operation in operations),
        data_errors=ior_words.data_errors(text),
        checks_data=None,
        warnings=ior_words.warnings(text),
    )


def _csv_row(record: dict[str, Any]) -> IorRow:
    return IorRow(
        operation=_cell(record, "access"),
        repetition=count(_cell(record, "iter"), "IOR's iter"),
        bytes_per_s=_speed(_cell(record, "bw(MiB/s)")),
        total_s=amount(_cell(record, "total(s)"), "IOR's total(s)"),
    )


def _cell(record: dict[str, Any], name: str) -> str:
    value = record.get(name)
    if not isinstance(value, str):
        raise ParseError(f"IOR's row has no {name}", kind=RefusalKind.MALFORMED)
    return value


def _summed(operation: str, rows: tuple[IorRow, ...]) -> IorSummary:
    speeds = [row.bytes_per_s for row in rows if row.operation == operation]
    return IorSummary(operation, max(speeds), min(speeds), sum(speeds) / len(speeds))


def _from_json(text: str) -> IorReport:
    report = json_report.validated(_Json, json_report.only(text, tool="IOR"), tool="IOR")
    rows = tuple(
        IorRow(result.access, result.repetition, result.bw_mib * MIB, result.total_s)
        for test in report.tests
        for result in test.results
    )
    asked = [test.parameters for test in report.tests]
    return IorReport(
        tasks=report.summary[0].tasks,
        repetitions=report.summary[0].repetitions,
        rows=rows,
        summaries=tuple(
            IorSummary(each.operation, each.max_mib * MIB, each.min_mib * MIB, each.mean_mib * MIB)
            for each in report.summary
        ),
        data_errors=ior_words.data_errors(text),
        checks_data=any(each.check_write or each.check_read for each in asked),
        warnings=ior_words.warnings(text),
    )
