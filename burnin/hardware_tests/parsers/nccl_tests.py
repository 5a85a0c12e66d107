"""nccl-tests and rccl-tests, from their table or their JSON report (`-J`).

GB/s are decimal, times are microseconds. "Avg bus bandwidth" is the mean over all sizes, in place
and out of place: it is context, not what a link can do.
"""

from __future__ import annotations

import re

from burnin.hardware_tests.parsers import nccl_json
from burnin.hardware_tests.parsers.nccl_log import NcclLog, read_log
from burnin.hardware_tests.parsers.nccl_report import (
    NcclReport,
    NcclRow,
    Verdict,
    refuse_contradictions,
)
from burnin.hardware_tests.parsers.nccl_table import read_table
from burnin.hardware_tests.parsers.number import amount, count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_OUT_OF_BOUNDS = re.compile(r"# Out of bounds values\s*: (\d{1,12}) (OK|FAILED)\s*")
_AVERAGE = re.compile(r"# Avg bus bandwidth\s*: (\S+)(?: (OK|FAILED))?\s*")
_VERSION = re.compile(r"# [nr]ccl-tests version (\S+)|rccl-tests: Version (\S+)")
_LIBRARY = re.compile(r"(?:NCCL|RCCL) version ?: ?(\S+)|(?:NCCL|RCCL) version (\S+)")
_LIBRARY_CODE = re.compile(r"# [nr]ccl-tests version .* [nr]ccl-library=(\d{1,9})")
_NETWORK = re.compile(r"NCCL INFO Using network (.+)")
_NVLS_CHANNELS = re.compile(r"coll channels, .*?(\d{1,6}) nvls channels")
_NVLS_MISSING = re.compile(r"NVLS multicast support is not (available)")
_MNNVL = re.compile(r"\bMNNVL (\d)\b")
_REDUCED = re.compile(r"# Reducing maxBytes to (\d{1,20}) due to memory limitation")
_REQUESTED = re.compile(r"# nThread \d+ .*minBytes (\d{1,20}) maxBytes (\d{1,20}) ")


def parse(text: str) -> NcclReport:
    """Return the report; raise ParseError on what is no whole, consistent one."""
    is_json = text.lstrip().startswith("{")
    report = nccl_json.parse(text) if is_json else _parse_text(text)
    refuse_contradictions(report)
    return report


def _parse_text(text: str) -> NcclReport:
    log = read_log(text)
    table = read_table(log.table)
    rows = table.rows
    _refuse_failures(log, rows)
    out_of_bounds, out_of_bounds_verdict = _out_of_bounds(log, rows)
    average, average_verdict = _average(log, rows)
    if table.broken_rows:
        raise ParseError(
            f"{table.broken_rows} rows of the nccl-tests table are broken by other output",
            kind=RefusalKind.MALFORMED,
        )
    return NcclReport(
        format="text",
        version=_first(_VERSION, log.lines),
        library_version=_first(_LIBRARY, (*log.lines, *log.information))
        or _first(_LIBRARY_CODE, log.lines),
        devices=log.devices,
        requested_max_bytes=_requested_max_bytes(log.lines),
        is_reduced=any(_REDUCED.search(line) for line in log.lines),
        rows=rows,
        out_of_bounds=out_of_bounds,
        out_of_bounds_verdict=out_of_bounds_verdict,
        average_bus_bandwidth_gb_per_s=average,
        average_verdict=average_verdict,
        warnings=log.warnings,
        networks=_networks(log.information),
        nvls=_nvls(log.information),
        mnnvl=_switch(_MNNVL, log.information),
    )


def _refuse_failures(log: NcclLog, rows: tuple[NcclRow, ...]) -> None:
    if log.failures:
        raise ParseError(
            log.failures[0], kind=RefusalKind.TEST_FAILURE, facts={"complete_rows": len(rows)}
        )
    if not log.has_table:
        raise log.refusal_without_table()
    if log.table_count > 1:
        raise ParseError(
            f"{log.table_count} result tables in one output: the test was built without MPI, and "
            "each process ran alone",
            kind=RefusalKind.CONTRADICTORY,
        )


def _out_of_bounds(log: NcclLog, rows: tuple[NcclRow, ...]) -> tuple[int, Verdict]:
    found = _only(_OUT_OF_BOUNDS, log, rows)
    return count(found[1], "out of bounds values"), Verdict(found[2])


def _average(log: NcclLog, rows: tuple[NcclRow, ...]) -> tuple[float, Verdict]:
    found = _only(_AVERAGE, log, rows)
    verdict = Verdict(found[2]) if found[2] else Verdict.UNCHECKED
    return amount(found[1], "Avg bus bandwidth"), verdict


def _only(pattern: re.Pattern[str], log: NcclLog, rows: tuple[NcclRow, ...]) -> re.Match[str]:
    found = [match for line in log.lines if (match := pattern.fullmatch(line.strip()))]
    if len(found) == 1:
        return found[0]
    if found:
        raise ParseError(
            f"{len(found)} footers in one nccl-tests output", kind=RefusalKind.CONTRADICTORY
        )
    whole = f"{len(rows)} rows are complete"
    raise ParseError(
        f"the nccl-tests output ends before its footer; {whole}",
        kind=RefusalKind.TRUNCATED,
        facts={
            "complete_rows": len(rows),
            **({"last_complete_size": rows[-1].size_bytes} if rows else {}),
        },
    )


def _requested_max_bytes(lines: tuple[str, ...]) -> int | None:
    found = next((match for line in lines if (match := _REQUESTED.search(line))), None)
    return int(found[2]) if found else None


def _networks(information: tuple[str, ...]) -> tuple[str, ...]:
    found = [match[1].strip() for line in information if (match := _NETWORK.search(line))]
    return tuple(dict.fromkeys(found))


def _nvls(information: tuple[str, ...]) -> bool | None:
    """Channels tell that it is used; that a GPU could use it tells nothing."""
    used = _switch(_NVLS_CHANNELS, information)
    if used is None and any(_NVLS_MISSING.search(line) for line in information):
        return False
    return used


def _switch(pattern: re.Pattern[str], information: tuple[str, ...]) -> bool | None:
    """Return whether every line that counts something counts more than none."""
    counts = [int(match[1]) for line in information if (match := pattern.search(line))]
    return all(counts) if counts else None


def _first(pattern: re.Pattern[str], lines: tuple[str, ...]) -> str | None:
    found = next((match for line in lines if (match := pattern.search(line))), None)
    return next((group for group in found.groups() if group), None) if found else None
