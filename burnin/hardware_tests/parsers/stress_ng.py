"""stress-ng's log. An interrupted run says "successful run" and exits 0: its time tells.

A worker that computes a wrong value says "fail:". The parent says so too, of a worker that was
killed: that one's counters then look corrupted, and nothing is known of the CPU.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from burnin.hardware_tests.parsers.number import amount, count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_LINE = re.compile(r"stress-ng: (\w+): +\[(\d{1,10})\] (.*)")
_STARTED = re.compile(r"dispatching hogs: (.+)")
_ENDED = re.compile(r"(un)?successful run completed in ([\d.]+)s(?: .*)?")
_ROW = re.compile(r"(\S+) +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)(?: .*)?")
_STOPPED = re.compile(r"process (?:\[\d+\]|\d+) \(.*(?:stressor failed|status=2).*")


@dataclass(frozen=True)
class StressNgStressor:
    """One kind of workload. A bogus operation means nothing but to the same version's own."""

    name: str
    bogus_operations: int
    elapsed_s: float
    cpu_s: float
    bogus_operations_per_s: float


@dataclass(frozen=True)
class StressNgReport:
    """A run that reached its end. `fault_lines` are the values that came out wrong.

    Each worker stops after its fifth, so that there may be more. `failed_workers` counts processes.
    """

    workers: int
    elapsed_s: float
    stressors: tuple[StressNgStressor, ...]
    fault_lines: tuple[str, ...]
    failed_workers: int

    @property
    def passed(self) -> bool:
        return not self.fault_lines


def parse(text: str) -> StressNgReport:
    """Return the report; raise ParseError when it stops before its end, or could not be run."""
    if not text.strip():
        raise ParseError("empty output: stress-ng wrote nothing", kind=RefusalKind.NO_DATA)
    lines = [(found[1], found[2], found[3]) for found in _LINE.finditer(text)]
    if not lines:
        last = text.strip().splitlines()[-1]
        raise ParseError(f"not a stress-ng log: {last:.200}", kind=RefusalKind.MALFORMED)
    ended = _ending(lines)
    parent = lines[0][1]
    faults = [(pid, words) for level, pid, words in lines if level == "fail" and pid != parent]
    _refuse_mishaps(lines, faults=bool(faults))
    _refuse_contradiction(ended, faults=bool(faults))
    return StressNgReport(
        workers=_workers(lines),
        elapsed_s=amount(ended[2], "stress-ng's run time"),
        stressors=_stressors(lines),
        fault_lines=tuple(words for _, words in faults),
        failed_workers=len({pid for pid, _ in faults}),
    )


def _ending(lines: list[tuple[str, str, str]]) -> re.Match[str]:
    found = [match for _, _, words in lines if (match := _ENDED.fullmatch(words))]
    if len(found) > 1:
        raise ParseError(f"{len(found)} stress-ng runs in one log", kind=RefusalKind.CONTRADICTORY)
    if not found:
        raise ParseError(
            f"the stress-ng log ends before its run does: {lines[-1][2]:.200}",
            kind=RefusalKind.TRUNCATED,
        )
    return found[0]


def _refuse_mishaps(lines: list[tuple[str, str, str]], *, faults: bool) -> None:
    """Refuse a run in which a worker ended by anything but a wrong value."""
    for level, _, words in lines:
        if level == "error" and not (faults and _STOPPED.fullmatch(words)):
            raise ParseError(f"stress-ng: {words:.200}", kind=RefusalKind.TOOL_ERROR)
        if level == "fail" and not faults:
            raise ParseError(
                f"a worker of stress-ng ended before its time: {words:.200}",
                kind=RefusalKind.CRASH,
            )


def _refuse_contradiction(ended: re.Match[str], *, faults: bool) -> None:
    if bool(ended[1]) != faults:
        said = f"{ended[1] or ''}successful"
        counted = "wrong values" if faults else "no wrong value"
        raise ParseError(
            f"stress-ng says its run was {said} and prints {counted}",
            kind=RefusalKind.CONTRADICTORY,
        )


def _workers(lines: list[tuple[str, str, str]]) -> int:
    found = next((match for _, _, words in lines if (match := _STARTED.fullmatch(words))), None)
    if found is None:
        raise ParseError(
            "the stress-ng log does not say which workers it started", kind=RefusalKind.TRUNCATED
        )
    return sum(count(each.split()[0], "stress-ng's workers") for each in found[1].split(", "))


def _stressors(lines: list[tuple[str, str, str]]) -> tuple[StressNgStressor, ...]:
    rows = [
        match
        for level, _, words in lines
        if level in ("metrc", "info") and (match := _ROW.fullmatch(words))
    ]
    if not rows:
        raise ParseError(
            "the stress-ng log has no row of metrics: nothing was run", kind=RefusalKind.NO_DATA
        )
    return tuple(
        StressNgStressor(
            name=row[1],
            bogus_operations=count(row[2], "bogo ops"),
            elapsed_s=amount(row[3], "real time"),
            cpu_s=amount(row[4], "usr time") + amount(row[5], "sys time"),
            bogus_operations_per_s=amount(row[6], "bogo ops/s"),
        )
        for row in rows
    )
