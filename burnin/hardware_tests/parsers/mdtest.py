"""mdtest 3 and 4: operations per second of each kind, over all iterations."""

from __future__ import annotations

import re
from dataclasses import dataclass

from burnin.hardware_tests.parsers.json_report import last_line
from burnin.hardware_tests.parsers.number import amount, count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_LAUNCHED = re.compile(
    r"^mdtest-(\S+) was launched with (\d+) total task\(s\) on (\d+) node\(s\)", re.M
)
_SUMMARY = re.compile(r"^SUMMARY rate.*?: \(of (\d+) iterations\)\s*$", re.MULTILINE)
_OPERATION = re.compile(
    r"^ +([A-Z][a-z]+(?: [a-z]+)+) *:? +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) *$", re.M
)
_FINISHED = re.compile(r"^-- finished at .* --$", re.MULTILINE)
_FAILURE = re.compile(r"^.*(?:ERROR: |FATAL ERROR).*$", re.MULTILINE)
_IO_WORDS = re.compile(r"unable to|failed|No such file|No space|Permission|Input/output", re.I)
_WARNING = re.compile(r"^WARNING: (.+)$", re.MULTILINE)


@dataclass(frozen=True)
class MdtestRate:
    """Operations per second of one kind, "File creation"."""

    operation: str
    max_per_s: float
    min_per_s: float
    mean_per_s: float
    deviation_per_s: float


@dataclass(frozen=True)
class MdtestReport:
    version: str
    tasks: int
    nodes: int
    iterations: int
    rates: tuple[MdtestRate, ...]
    warnings: tuple[str, ...]

    def of(self, operation: str) -> MdtestRate:
        """Return the rate of "File creation" and the like; raise ParseError if it was not done."""
        for rate in self.rates:
            if rate.operation == operation:
                return rate
        raise ParseError(f"mdtest did no {operation.lower()}", kind=RefusalKind.NO_DATA)


def parse(text: str) -> MdtestReport:
    """Return the report; raise ParseError where mdtest failed or has not finished."""
    if not text.strip():
        raise ParseError("empty output: mdtest wrote nothing", kind=RefusalKind.NO_DATA)
    if failure := _FAILURE.search(text):
        is_io = _IO_WORDS.search(failure[0])
        kind = RefusalKind.IO_ERROR if is_io else RefusalKind.USAGE
        raise ParseError(failure[0].strip(), kind=kind)
    launched, summaries = _LAUNCHED.search(text), _SUMMARY.findall(text)
    if launched is None:
        raise ParseError(f"not mdtest's report: {last_line(text)}", kind=RefusalKind.MALFORMED)
    if not summaries or not _FINISHED.search(text):
        raise ParseError("mdtest's report is not finished", kind=RefusalKind.TRUNCATED)
    if len(summaries) > 1:
        raise ParseError("several mdtest summaries in one", kind=RefusalKind.CONTRADICTORY)
    return MdtestReport(
        version=launched[1],
        tasks=count(launched[2], "mdtest's tasks"),
        nodes=count(launched[3], "mdtest's nodes"),
        iterations=count(summaries[0], "mdtest's iterations"),
        rates=_rates(text),
        warnings=tuple(_WARNING.findall(text)),
    )


def _rates(text: str) -> tuple[MdtestRate, ...]:
    found = [
        MdtestRate(operation, *(amount(word, f"mdtest's {operation}") for word in words))
        for operation, *words in _OPERATION.findall(text)
    ]
    if not found:
        raise ParseError("mdtest's summary has no rate", kind=RefusalKind.MALFORMED)
    for rate in found:
        if not rate.min_per_s <= rate.mean_per_s <= rate.max_per_s:
            raise ParseError(
                f"mdtest's {rate.operation} has a mean outside of its extremes",
                kind=RefusalKind.CONTRADICTORY,
            )
    return tuple(found)
