"""The table that RVS 1.3 and newer end with: versions, GPUs, and a verdict for each action.

Its form stands in ROCm/ROCmValidationSuite rvs/src/rvsexec_do_yaml.cpp; verdicts are coloured.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from burnin.hardware_tests.parsers.number import count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind
from burnin.hardware_tests.parsers.rvs_report import RvsAction, RvsGpu

TITLE = "ROCm Validation Suite (RVS) Summary"

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_ROW = re.compile(r"\| (\S.*?) +\| ([A-Z0-9_]+) +\| (PASS|FAIL) +\|")
_CELLS = re.compile(r"\| (.*?) *\| (.*?) *\|")
_NAMED = re.compile(r"(.+) - (\d{1,9})")
_PLACED = re.compile(r"(\d{1,4}) - \d{1,4} - ([0-9a-fA-F:.]+)")
_BOTTOM = re.compile(r"\+-+\+")
_HEADER = re.compile(r"\| Action Name +\| Module +\| Result +\|")


@dataclass(frozen=True)
class Summary:
    """One summary, whole."""

    version: str
    gpus: tuple[RvsGpu, ...]
    actions: tuple[RvsAction, ...]


def summary_in(text: str) -> Summary | None:
    """Return the summary, None without one; raise ParseError if it is cut, or there are two."""
    _, title, rest = text.partition(TITLE)
    if not title:
        return None
    if TITLE in rest:
        raise ParseError("two RVS summaries in one output", kind=RefusalKind.CONTRADICTORY)
    overview, table = _halves([_COLOUR.sub("", line).strip() for line in rest.splitlines()])
    cells = {name: value for name, value in map(_cells, overview) if name}
    gpus = _gpus(overview)
    if not cells.get("RVS version") or count(cells.get("GPUs", ""), "GPUs") != len(gpus):
        raise ParseError(
            f"RVS {cells.get('RVS version', 'of no version')} counts {cells.get('GPUs', 'no')} GPUs"
            f" and lists {len(gpus)}",
            kind=RefusalKind.CONTRADICTORY,
        )
    return Summary(version=cells["RVS version"], gpus=gpus, actions=_actions(table))


def _halves(lines: list[str]) -> tuple[list[str], list[str]]:
    headers = [at for at, line in enumerate(lines) if _HEADER.fullmatch(line)]
    if len(headers) != 1:
        raise ParseError("RVS's summary has no table of actions", kind=RefusalKind.TRUNCATED)
    return lines[: headers[0]], lines[headers[0] + 2 :]


def _cells(line: str) -> tuple[str, str]:
    found = _CELLS.fullmatch(line)
    return (found[1], found[2]) if found else ("", "")


def _gpus(overview: list[str]) -> tuple[RvsGpu, ...]:
    """Read the GPUs, two in a row: name and id above index, node and bus."""
    named = [found for cell in _each(overview) if (found := _NAMED.fullmatch(cell))]
    placed = [found for cell in _each(overview) if (found := _PLACED.fullmatch(cell))]
    # "0 - 2 - 0000:05:00.0" ends in no number that could be an id.
    if len(named) != len(placed):
        raise ParseError(
            f"RVS names {len(named)} GPUs and places {len(placed)}", kind=RefusalKind.CONTRADICTORY
        )
    return tuple(
        RvsGpu(
            index=count(place[1], "GPU"),
            gpu_id=count(name[2], "GPU id"),
            name=name[1],
            bus_id=place[2],
        )
        for name, place in zip(named, placed, strict=True)
    )


def _each(overview: list[str]) -> list[str]:
    return [cell for line in overview for cell in _cells(line) if cell]


def _actions(table: list[str]) -> tuple[RvsAction, ...]:
    actions: list[RvsAction] = []
    for line in table:
        if _BOTTOM.fullmatch(line):
            return tuple(actions)
        row = _ROW.fullmatch(line)
        if row is None:
            break
        actions.append(RvsAction(name=row[1], module=row[2], passed=row[3] == "PASS"))
    raise ParseError("RVS's summary is cut in its table of actions", kind=RefusalKind.TRUNCATED)
