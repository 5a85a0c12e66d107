"""HPCG's report (key=value of 3.1; YAML of 3.0 and rocHPCG) and NVIDIA's summary on stdout.

The YAML is written by src/YAML_Doc.cpp and src/ReportResults.cpp (ROCm/rocHPCG, as in HPCG 3.0): a
key's children stand two spaces further in, and bear the names of 3.1. The rating is that of the
final summary; "HPCG 2.4 rating" and "Raw Total" are other numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from burnin.hardware_tests.parsers.number import amount, count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

OFFICIAL_RUN_S = 1800.0

_RATING = "Final Summary::HPCG result is VALID with a GFLOP/s rating of"
_RESULT = "Final Summary::HPCG result is"
_PROCESSES = "Machine Summary::Distributed Processes"
_TIME = "Benchmark Time Summary::Total"
_CHECKS = (
    "Spectral Convergence Tests::Result",
    "Departure from Symmetry |x'Ay-y'Ax|/(2*||x||*||A||*||y||)/epsilon::Result",
    "Iteration Count Information::Result",
    "Reproducibility Information::Result",
)
_YAML_TITLE = re.compile(r"^HPCG-Benchmark version: (\S+)$", re.MULTILINE)
_YAML_LINE = re.compile(r"( *)(.+?): (.*)")
_YAML_INDENT = 2
_FINAL_LINE = re.compile(r"final\s*=\s*(\S+) GF\b.*", re.MULTILINE)


@dataclass(frozen=True)
class HpcgReport:
    """A run that reached its end. `gflops` is None where HPCG calls the result invalid.

    `is_valid` is None where the output holds no verdict of HPCG's: NVIDIA's "final =" line alone.
    Then the execution time is not printed either. `failed_checks` names what HPCG calls FAILED.
    """

    version: str | None
    processes: int | None
    is_valid: bool | None
    gflops: float | None
    execution_time_s: float | None
    failed_checks: tuple[str, ...]

    @property
    def is_official(self) -> bool:
        """Whether it ran for the half hour that HPCG asks of official results."""
        return self.execution_time_s is not None and self.execution_time_s >= OFFICIAL_RUN_S


def parse(text: str) -> HpcgReport:
    """Return the report; raise ParseError when it stops before its final summary."""
    title = _YAML_TITLE.search(text)
    pairs = _pairs(_from_yaml(text, title) if title else text)
    if _RESULT not in pairs and _RATING not in pairs:
        return _final_line(text)
    if not text.endswith("\n"):
        raise ParseError("the HPCG report is cut in its last line", kind=RefusalKind.TRUNCATED)
    rating = pairs.get(_RATING)
    report = HpcgReport(
        version=pairs.get("version"),
        processes=count(pairs[_PROCESSES], _PROCESSES) if _PROCESSES in pairs else None,
        is_valid=rating is not None,
        gflops=None if rating is None else amount(rating, "GFLOP/s rating"),
        execution_time_s=amount(pairs[_TIME], "total time") if _TIME in pairs else None,
        failed_checks=tuple(
            key.partition("::")[0] for key in _CHECKS if pairs.get(key, "PASSED") != "PASSED"
        ),
    )
    if report.is_valid and (report.failed_checks or _RESULT in pairs):
        what = report.failed_checks[0] if report.failed_checks else "INVALID as well"
        raise ParseError(
            f"HPCG calls its result valid, and {what} failed", kind=RefusalKind.CONTRADICTORY
        )
    return report


def _pairs(text: str) -> dict[str, str]:
    """Read `key=value` lines; of the repeated keys of coarse grids the first counts."""
    pairs: dict[str, str] = {}
    for line in text.splitlines():
        key, separator, value = line.strip().partition("=")
        if not separator:
            continue
        if key in pairs and key in (_RATING, _RESULT, _TIME):
            raise ParseError("two HPCG reports in one output", kind=RefusalKind.CONTRADICTORY)
        pairs.setdefault(_RESULT if key.startswith(f"{_RESULT} INVALID") else key, value.strip())
    return pairs


def _from_yaml(text: str, title: re.Match[str]) -> str:
    """Return the report as version 3.1 writes it: each key below those that it belongs to."""
    if _YAML_TITLE.search(text, title.end()):
        raise ParseError("two HPCG reports in one output", kind=RefusalKind.CONTRADICTORY)
    above: list[str] = []
    said = [f"version={title[1]}"]
    for found in filter(None, map(_YAML_LINE.fullmatch, text[title.end() :].splitlines())):
        above = [*above[: len(found[1]) // _YAML_INDENT], found[2]]
        said.append(f"{'::'.join(above)}={found[3].strip()}")
    return "\n".join(said)


def _final_line(text: str) -> HpcgReport:
    """Read the output of NVIDIA's older containers, which print no report."""
    found = _FINAL_LINE.findall(text)
    if len(found) > 1:
        raise ParseError("two HPCG results in one output", kind=RefusalKind.CONTRADICTORY)
    if not found:
        raise _refusal(text)
    return HpcgReport(
        version=None,
        processes=None,
        is_valid=None,
        gflops=amount(found[0], "final GF"),
        execution_time_s=None,
        failed_checks=(),
    )


def _refusal(text: str) -> ParseError:
    if not text.strip():
        return ParseError("empty output: HPCG wrote nothing", kind=RefusalKind.NO_DATA)
    if "HPCG" in text:
        return ParseError("the HPCG report has no final summary", kind=RefusalKind.TRUNCATED)
    line = text.strip().splitlines()[-1]
    return ParseError(f"not an HPCG report: {line:.200}", kind=RefusalKind.MALFORMED)
