"""iperf3 reports: JSON (`-J`) and the client's text.

The exit code says nothing under -J (3.12 exits 0 with no server): the report's "error" does.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from pydantic import Field

from burnin.hardware_tests.parsers import json_report
from burnin.hardware_tests.parsers.json_report import Edge
from burnin.hardware_tests.parsers.number import amount, count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

# The sums and the seconds they are made of agree to this part, or one of them is not what we think.
RATE_TOLERANCE = 0.02


@dataclass(frozen=True)
class Iperf3Sum:
    """What all streams together moved in one direction, as one end counted it.

    `retransmits` is None where that end does not count them; packets and jitter are UDP's.
    """

    bits_per_s: float
    moved_bytes: int
    elapsed_s: float
    retransmits: int | None
    jitter_s: float | None
    lost_packets: int | None
    packets: int | None


@dataclass(frozen=True)
class Iperf3Report:
    """A run that moved data. `received` is what was delivered: the figure to judge.

    `error` is set when the run was broken off; its sums then cover a part of it, and what the
    other end counted is None. `backward_*` are the other direction of --bidir.
    """

    version: str
    protocol: str
    streams: int
    reverse: bool
    asked_s: float | None
    error: str | None
    sent: Iperf3Sum | None
    received: Iperf3Sum | None
    backward_sent: Iperf3Sum | None
    backward_received: Iperf3Sum | None

    @property
    def complete(self) -> bool:
        return self.error is None


class _Sum(Edge):
    bits_per_s: float = Field(alias="bits_per_second", ge=0)
    moved_bytes: int = Field(alias="bytes", ge=0)
    seconds: float = Field(ge=0)
    retransmits: int | None = Field(default=None, ge=0)
    jitter_ms: float | None = Field(default=None, ge=0)
    lost_packets: int | None = None
    packets: int | None = Field(default=None, ge=0)


class _End(Edge):
    streams: tuple[object, ...] = ()
    sum: _Sum | None = None  # UDP
    sum_sent: _Sum | None = None
    sum_received: _Sum | None = None
    sum_sent_bidir_reverse: _Sum | None = None
    sum_received_bidir_reverse: _Sum | None = None


class _TestStart(Edge):
    protocol: str
    streams: int = Field(alias="num_streams", ge=1, le=1 << 16)
    asked_s: float = Field(alias="duration", ge=0)
    reverse: int = 0


class _Start(Edge):
    version: str
    test_start: _TestStart | None = None


class _Report(Edge):
    start: _Start
    end: _End
    error: str | None = None


_STREAM = re.compile(r"^\[ *(\d+)\] local ", re.MULTILINE)
_TEXT_SUM = re.compile(
    r"^\[ *(\d+|SUM)\](?:\[[TR]X-[CS]\])? +([\d.]+)-([\d.]+) +sec +([\d.]+) ([KMGT]?)Bytes"
    r" +([\d.]+) ([KMGT]?)bits/sec +(?:(\d+) +)?(sender|receiver) *$",
    re.MULTILINE,
)
_TEXT_ERROR = re.compile(r"^iperf3: (?:error - )?(.+)$", re.MULTILINE)
_POWERS = {"": 0, "K": 1, "M": 2, "G": 3, "T": 4}


def parse(text: str) -> Iperf3Report:
    """Return the report, also of a run that was broken off; raise ParseError if nothing ran."""
    if text.lstrip().startswith("{"):
        return _from_json(text)
    return _from_text(text)


def _from_json(text: str) -> Iperf3Report:
    report = json_report.validated(_Report, json_report.only(text, tool="iperf3"), tool="iperf3")
    end, asked = report.end, report.start.test_start
    received = end.sum_received or end.sum
    if received is None and end.sum_sent is None:
        raise _without_sums(report.error)
    if asked is None or received is None:
        raise ParseError("iperf3's report lacks test_start or sums", kind=RefusalKind.MALFORMED)
    _refuse_lost_streams(len(end.streams), asked.streams)
    return Iperf3Report(
        version=report.start.version,
        protocol=asked.protocol,
        streams=asked.streams,
        reverse=bool(asked.reverse),
        asked_s=asked.asked_s or None,
        error=report.error,
        sent=_sum(end.sum_sent),
        received=None if report.error and not received.moved_bytes else _sum(received),
        backward_sent=_sum(end.sum_sent_bidir_reverse),
        backward_received=_sum(end.sum_received_bidir_reverse),
    )


def _without_sums(error: str | None) -> ParseError:
    if error:
        return ParseError(error, kind=RefusalKind.ERROR)
    return ParseError("iperf3's report has no sums", kind=RefusalKind.NO_DATA)


def _refuse_lost_streams(found: int, asked: int) -> None:
    if found not in (0, asked, 2 * asked):  # twice as many under --bidir
        raise ParseError(
            f"iperf3 was asked for {asked} streams and reports {found}",
            kind=RefusalKind.CONTRADICTORY,
        )


def _sum(found: _Sum | None) -> Iperf3Sum | None:
    if found is None:
        return None
    if found.seconds:
        from_bytes = found.moved_bytes * 8 / found.seconds
        if not abs(from_bytes - found.bits_per_s) <= RATE_TOLERANCE * max(from_bytes, 1.0):
            raise ParseError(
                f"iperf3 counts {found.moved_bytes} bytes in {found.seconds} s and calls that "
                f"{found.bits_per_s} bits per second",
                kind=RefusalKind.CONTRADICTORY,
            )
    return Iperf3Sum(
        bits_per_s=found.bits_per_s,
        moved_bytes=found.moved_bytes,
        elapsed_s=found.seconds,
        retransmits=found.retransmits,
        jitter_s=None if found.jitter_ms is None else found.jitter_ms / 1e3,
        lost_packets=found.lost_packets,
        packets=found.packets,
    )


def _from_text(text: str) -> Iperf3Report:
    if not text.strip():
        raise ParseError("empty output: iperf3 wrote nothing", kind=RefusalKind.NO_DATA)
    if error := _TEXT_ERROR.search(text):
        raise ParseError(error[1], kind=RefusalKind.ERROR)
    if not re.search(r"^iperf Done\.$", text, re.MULTILINE):
        raise ParseError('iperf3\'s text stops before "iperf Done."', kind=RefusalKind.TRUNCATED)
    streams = len(set(_STREAM.findall(text)))
    total = "SUM" if streams > 1 else None
    rows = [row for row in _TEXT_SUM.findall(text) if total is None or row[0] == total]
    ends = {row[-1]: _text_sum(row) for row in rows}
    if len(rows) != 2 or set(ends) != {"sender", "receiver"}:
        raise ParseError(
            f"iperf3's text has {len(rows)} sums, needs one of the sender and one of the receiver",
            kind=RefusalKind.MALFORMED,
        )
    return Iperf3Report(
        version="unknown", protocol="unknown", streams=streams, reverse="Reverse mode" in text,
        asked_s=None, error=None, sent=ends["sender"], received=ends["receiver"],
        backward_sent=None, backward_received=None,
    )  # fmt: skip


def _text_sum(row: tuple[str, ...]) -> Iperf3Sum:
    """Bytes count in powers of 1024 and bits in powers of 1000, as iperf3 prints them."""
    where = f"iperf3's {row[-1]} line"
    _, start_s, end_s, moved, moved_unit, speed, speed_unit, retransmits, _ = row
    return Iperf3Sum(
        bits_per_s=amount(speed, where) * 1000 ** _POWERS[speed_unit],
        moved_bytes=round(amount(moved, where) * 1024 ** _POWERS[moved_unit]),
        elapsed_s=amount(end_s, where) - amount(start_s, where),
        retransmits=count(retransmits, where) if retransmits else None,
        jitter_s=None,
        lost_packets=None,
        packets=None,
    )
