"""iperf 2: its text, plain or enhanced (-e), and its CSV (-y C).

A run's total is the row that starts at 0 and ends last; with several streams it is "[SUM]".
Nothing in the output says how long the run was to last: compare `elapsed_s` with what was asked.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from burnin.hardware_tests.parsers.number import amount, count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_CONNECTION = re.compile(r"^\[ *(\d+)\] local .* connected with ", re.MULTILINE)
_ROW = re.compile(
    r"^\[ *(\d+|SUM)\] +([\d.]+) *- *([\d.]+) +sec +([\d.]+) ([KMGT]?)Bytes"
    r" +([\d.]+) ([KMGT]?)bits/sec(.*)\n",
    re.MULTILINE,
)
_WRITES_AND_RETRIES = re.compile(r" +\d+/\d+ +(\d+) ")
_HAS_RETRIES = re.compile(r"^\[ *ID\] Interval .* Write/Err +Rtry", re.MULTILINE)
_CSV = re.compile(
    r"^\d{14}(?:\.\d+)?,[^,\n]*,\d+,[^,\n]*,\d+,(-?\d+),([\d.]+)-([\d.]+),(\d+),(\d+)", re.M
)
_FAILURE = re.compile(
    r"^.*(?:(?:connect|accept|bind|write|read) failed|unable to|error: ).*$",
    re.MULTILINE,
)
_WHOLE_SECONDS = re.compile(r"\d+\.0{4}")
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


@dataclass(frozen=True)
class Iperf2Report:
    """What all streams together moved. `retries` is None where iperf did not count them."""

    bits_per_s: float
    moved_bytes: float
    elapsed_s: float
    streams: int
    retries: int | None


@dataclass(frozen=True)
class _Row:
    stream: str
    start: str
    end: str
    moved_bytes: float
    bits_per_s: float
    retries: int | None

    @property
    def end_s(self) -> float:
        return amount(self.end, "iperf's interval")


def parse(text: str) -> Iperf2Report:
    """Return the total of the run; raise ParseError where it failed or has not got so far."""
    if not text.strip():
        raise ParseError("empty output: iperf wrote nothing", kind=RefusalKind.NO_DATA)
    # iperf goes on to print a "connected with" line after a connection that failed.
    if failure := _FAILURE.search(text):
        raise ParseError(failure[0].strip(), kind=RefusalKind.ERROR)
    rows = _csv_rows(text) or _text_rows(text)
    streams = {row.stream for row in rows if row.stream != "SUM"}
    streams.update(_CONNECTION.findall(text))
    wanted = "SUM" if len(streams) > 1 else None
    total = _total([row for row in rows if wanted is None or row.stream == wanted])
    return Iperf2Report(
        bits_per_s=total.bits_per_s,
        moved_bytes=total.moved_bytes,
        elapsed_s=total.end_s,
        streams=max(len(streams), 1),
        retries=total.retries,
    )


def _total(rows: list[_Row]) -> _Row:
    from_start = [row for row in rows if amount(row.start, "iperf's interval") == 0]
    last = max(from_start, key=lambda row: row.end_s, default=None)
    if last is None or last is not rows[-1] or _may_be_an_interval(rows):
        raise ParseError("iperf's output stops before its total", kind=RefusalKind.TRUNCATED)
    return last


def _may_be_an_interval(rows: list[_Row]) -> bool:
    """A first interval looks like a total; but only an interval ends on the full second."""
    return len(rows) == 1 and _WHOLE_SECONDS.fullmatch(rows[0].end) is not None


def _text_rows(text: str) -> list[_Row]:
    has_retries = _HAS_RETRIES.search(text) is not None
    return [_text_row(found, has_retries) for found in _ROW.findall(text)]


def _text_row(found: tuple[str, ...], has_retries: bool) -> _Row:
    stream, start, end, moved, moved_unit, speed, speed_unit, rest = found
    retries = _WRITES_AND_RETRIES.match(rest) if has_retries else None
    return _Row(
        stream,
        start,
        end,
        moved_bytes=amount(moved, "iperf's transfer") * 1024 ** _POWERS[moved_unit],
        bits_per_s=amount(speed, "iperf's bandwidth") * 1000 ** _POWERS[speed_unit],
        retries=count(retries[1], "iperf's retries") if retries else None,
    )


def _csv_rows(text: str) -> list[_Row]:
    """Stream -1 is the sum."""
    return [
        _Row(
            "SUM" if stream == "-1" else stream,
            start,
            end,
            moved_bytes=count(moved, "iperf's transfer"),
            bits_per_s=amount(speed, "iperf's bandwidth"),
            retries=None,
        )
        for stream, start, end, moved, speed in _CSV.findall(text)
    ]
