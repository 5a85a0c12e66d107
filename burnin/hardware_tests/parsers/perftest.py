"""perftest's `ib_*_bw` and `ib_*_lat`: their tables, and the JSON of --out_json.

The unit stands in the header. "MB/sec" (old) and "MiB/sec" (new) are both 2^20 bytes a second,
"Gb/sec" is 10^9 bits. A latency is half a round trip for write and send, a whole one for read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from burnin.hardware_tests.parsers import json_report, perftest_words
from burnin.hardware_tests.parsers.number import amount
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

# Bandwidth and message rate are the same measurement; more than rounding apart, one is misread.
RATE_TOLERANCE = 0.02

_HEADER = re.compile(r"^ *#bytes +#iterations +(?:BW peak|t_min|t_avg)")
_CLOSING = re.compile(r"^ *-{60,} *$")
_UNITS = {"MB/sec": 1 << 20, "MiB/sec": 1 << 20, "Gb/sec": 125_000_000}
_COLUMN = re.compile(r"#\w+|tps average|(\S[^\[\]]*?)\[([^\]]+)\]")

_JSON_COLUMNS = {
    "MsgSize": "#bytes",
    "n_iterations": "#iterations",
    "BW_peak": "BW peak",
    "BW_average": "BW average",
}


@dataclass(frozen=True)
class PerftestBandwidth:
    """One message size. `peak_bytes_per_s` is None where perftest did not measure it (-D)."""

    size_bytes: int
    iterations: int
    peak_bytes_per_s: float | None
    average_bytes_per_s: float
    messages_per_s: float


@dataclass(frozen=True)
class PerftestLatency:
    """One message size. Only the average is known of a run by duration (-D)."""

    size_bytes: int
    iterations: int
    average_s: float
    minimum_s: float | None
    maximum_s: float | None
    typical_s: float | None
    p99_s: float | None
    p999_s: float | None


@dataclass(frozen=True)
class PerftestReport:
    """All rows in order; server and client of a loopback run each leave their own.

    `printed_unit` is the header's: "MB/sec", "MiB/sec", "Gb/sec" or "usec".
    """

    test: str
    device: str
    link_type: str
    printed_unit: str
    bandwidths: tuple[PerftestBandwidth, ...]
    latencies: tuple[PerftestLatency, ...]
    warnings: tuple[str, ...]

    def bandwidth_at(self, size_bytes: int | None = None) -> PerftestBandwidth:
        """Return the worse end's row of a size, the largest unless told; raise ParseError."""
        sizes = [row.size_bytes for row in self.bandwidths]
        wanted = max(sizes, default=0) if size_bytes is None else size_bytes
        rows = [row for row in self.bandwidths if row.size_bytes == wanted]
        if not rows:
            words = f"perftest reports no bandwidth at {wanted} bytes"
            raise ParseError(words, kind=RefusalKind.NO_DATA)
        return min(rows, key=lambda row: row.average_bytes_per_s)

    def latency_at(self, size_bytes: int | None = None) -> PerftestLatency:
        """Return the worse end's row of a size, the smallest unless told; raise ParseError."""
        sizes = [row.size_bytes for row in self.latencies]
        wanted = min(sizes, default=0) if size_bytes is None else size_bytes
        rows = [row for row in self.latencies if row.size_bytes == wanted]
        if not rows:
            words = f"perftest reports no latency at {wanted} bytes"
            raise ParseError(words, kind=RefusalKind.NO_DATA)
        return max(rows, key=lambda row: row.average_s)


def parse(text: str) -> PerftestReport:
    """Return the whole report; raise ParseError where a run failed or its table is not closed."""
    if text.lstrip().startswith("{"):
        return _from_json(text)
    perftest_words.refuse_failure(text)
    header, rows = _table(text)
    if header is None or not rows:
        raise perftest_words.refusal_without_rows(text, has_header=header is not None)
    columns = _columns(header)
    records = [_record(row, columns) for row in rows]
    unit = next(found[2] for found in _COLUMN.finditer(header) if found[2])
    return _report(
        records,
        unit,
        test=_field(text, r"^ *(\S[^\n]*?) Test *$"),
        device=_field(text, r"Device +: (\S+)"),
        link_type=_field(text, r"^ *Link type +: (\S+)"),
        warnings=perftest_words.warnings(text),
    )


def _table(text: str) -> tuple[str | None, list[str]]:
    """Return header and rows of all tables; one that no line of dashes closes is cut."""
    header, rows, is_open = None, [], False
    for line in text.splitlines():
        if _HEADER.match(line):
            _refuse_other_header(header, line)
            header, is_open = line, True
        elif _CLOSING.match(line):
            is_open = False
        elif header is not None and re.match(r"\s*\d+\s+\d+\s", line):
            rows.append(line)
    if is_open and rows:
        raise ParseError("perftest's table is not closed", kind=RefusalKind.TRUNCATED)
    return header, rows


def _refuse_other_header(header: str | None, line: str) -> None:
    if header is not None and header.split() != line.split():
        raise ParseError("perftest's tables have different headers", kind=RefusalKind.CONTRADICTORY)


def _columns(header: str) -> list[str]:
    return [(found[1] or found[0]).strip() for found in _COLUMN.finditer(header)]


def _record(row: str, columns: list[str]) -> dict[str, float]:
    words = row.split()
    if len(words) != len(columns):
        raise ParseError(
            f"perftest's row has {len(words)} numbers under {len(columns)} columns: {row.strip()}",
            kind=RefusalKind.MALFORMED,
        )
    return {
        column: amount(word, f"perftest's column {column}")
        for column, word in zip(columns, words, strict=True)
    }


def _report(
    records: list[dict[str, float]], unit: str, *, test: str, device: str, link_type: str,
    warnings: tuple[str, ...],
) -> PerftestReport:  # fmt: skip
    is_latency = unit == "usec"
    if not is_latency and unit not in _UNITS:
        raise ParseError(f"perftest reports in {unit}", kind=RefusalKind.MALFORMED)
    return PerftestReport(
        test=test,
        device=device,
        link_type=link_type,
        printed_unit=unit,
        bandwidths=() if is_latency else tuple(_bandwidth(record, unit) for record in records),
        latencies=tuple(_latency(record) for record in records) if is_latency else (),
        warnings=warnings,
    )


def _bandwidth(record: dict[str, float], unit: str) -> PerftestBandwidth:
    factor = _UNITS[unit]
    row = PerftestBandwidth(
        size_bytes=int(record["#bytes"]),
        iterations=int(record["#iterations"]),
        peak_bytes_per_s=record["BW peak"] * factor or None,
        average_bytes_per_s=record["BW average"] * factor,
        messages_per_s=record["MsgRate"] * 1e6,
    )
    from_messages = row.messages_per_s * row.size_bytes
    rounding = 0.005 * factor + 0.5 * row.size_bytes
    apart = abs(from_messages - row.average_bytes_per_s)
    if not apart <= rounding + RATE_TOLERANCE * from_messages:
        raise ParseError(
            f"perftest calls {record['MsgRate']} million messages of {row.size_bytes} bytes a "
            f"second {record['BW average']} {unit}",
            kind=RefusalKind.CONTRADICTORY,
        )
    return row


def _latency(record: dict[str, float]) -> PerftestLatency:
    def seconds(column: str) -> float | None:
        return record[column] * 1e-6 if column in record else None

    average_s = seconds("t_avg") if "t_avg" in record else seconds("t_typical")
    if average_s is None:
        raise ParseError("perftest reports no average latency", kind=RefusalKind.MALFORMED)
    return PerftestLatency(
        size_bytes=int(record["#bytes"]),
        iterations=int(record["#iterations"]),
        average_s=average_s,
        minimum_s=seconds("t_min"),
        maximum_s=seconds("t_max"),
        typical_s=seconds("t_typical"),
        p99_s=seconds("99% percentile"),
        p999_s=seconds("99.9% percentile"),
    )


def _field(text: str, pattern: str) -> str:
    found = re.search(pattern, text, re.MULTILINE)
    return found[1].strip() if found else "unknown"


def _from_json(text: str) -> PerftestReport:
    """Read --out_json. It names no unit: the one is taken in which its own figures agree."""
    document = json_report.only(text, tool="perftest")
    info, results = _part(document, "test_info"), _part(document, "results")
    record = {
        _JSON_COLUMNS.get(key, key): _json_number(key, value) for key, value in results.items()
    }
    missing = {"#bytes", "#iterations"} - set(record)
    if missing:
        raise ParseError(f"perftest's JSON has no {missing.pop()}", kind=RefusalKind.MALFORMED)
    return _report(
        [record],
        "usec" if "t_avg" in record else _agreeing_unit(record),
        test=str(info.get("test", "unknown")).replace("_", " "),
        device=str(info.get("Device", "unknown")),
        link_type=str(info.get("Link_type", "unknown")),
        warnings=(),
    )


def _part(document: dict[str, Any], name: str) -> dict[str, Any]:
    found = document.get(name)
    if not isinstance(found, dict):
        raise ParseError(f"perftest's JSON has no {name}", kind=RefusalKind.MALFORMED)
    return found


def _json_number(key: str, value: Any) -> float:
    return amount(str(value), f"perftest's field {key}")


def _agreeing_unit(record: dict[str, float]) -> str:
    for unit in ("MiB/sec", "Gb/sec"):
        try:
            _bandwidth(record, unit)
        except (ParseError, KeyError):
            continue
        return unit
    raise ParseError(
        "perftest's bandwidth and message rate agree in no unit", kind=RefusalKind.CONTRADICTORY
    )
