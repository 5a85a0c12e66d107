"""HPL (netlib, NVIDIA, AMD, Intel) and HPL-MxP (NVIDIA, AMD).

AMD's rocHPL-MxP prints HPL's own rows (ROCm/rocHPL-MxP src/hplmxp_ptest.cpp), and one speed, of LU
and refinement together. Only the result rows count: "Prog=", "Column=" and "Fraction=" lines are
progress. The exit code is 0 for failed residuals. A residual that is no number is a failed one, for
HPL says FAILED beside it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from burnin.hardware_tests.parsers import hpl_mxp, hpl_words
from burnin.hardware_tests.parsers.hpl_report import HplReport, HplResult, residual_of
from burnin.hardware_tests.parsers.number import amount, count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_ROW = re.compile(
    r"(W\w+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+([^\s(]+)(?:\s+\(\s*(\S+?)\s*\))?"
)
_ROW_BEGINS = re.compile(r"W[RC]\d\w*(?:\s+[\d.]|\s*$)")
_RESIDUAL = re.compile(r"\|\|Ax-b\|\|.*=\s*(\S+) \.{6} (PASSED|FAILED)")
_FINISHED = re.compile(r"Finished\s+(\d+) tests? with the following results:")
_COUNTS = re.compile(
    r"(\d+) tests? (?:completed and (passed|failed) residual checks|completed without (checking)|"
    r"(skipped) because of illegal input values)[,.]"
)
_END = "End of Tests."
_ROCHPL_MXP = re.compile(r"^HPLMXP_pdgesv\(\) ", re.MULTILINE)


def parse(text: str) -> HplReport:
    """Return the report; raise ParseError when it stops before its summary."""
    is_rochpl_mxp = bool(_ROCHPL_MXP.search(text))
    if hpl_mxp.is_mxp(text) and not is_rochpl_mxp:
        return hpl_mxp.parse(text)
    lines = [line.strip() for line in text.splitlines()]
    results = _results(lines)
    counts = _summary(lines, results, text)
    report = HplReport(
        variant="hpl-mxp" if is_rochpl_mxp else "hpl",
        results=results,
        tests=counts["tests"],
        passed=counts.get("passed", 0),
        failed=counts.get("failed", 0),
        unchecked=counts.get("checking", 0),
        skipped=counts.get("skipped", 0),
        warnings=hpl_words.warnings_in(lines),
    )
    _refuse_contradictions(report)
    return report


def _results(lines: list[str]) -> tuple[HplResult, ...]:
    """Pair each row with the residuals below it."""
    results: list[HplResult] = []
    for line in lines:
        if row := _ROW.fullmatch(line):
            results.append(_result(row))
        elif _ROW_BEGINS.match(line):
            raise hpl_words.cut(results, f"its row '{line:.80}' is broken")
        elif (residual := _RESIDUAL.fullmatch(line)) and results:
            results[-1] = results[-1].with_residual(residual_of(residual[1], residual[2]))
    return tuple(results)


def _result(row: re.Match[str]) -> HplResult:
    return HplResult(
        variant=row[1],
        n=count(row[2], "N"),
        nb=count(row[3], "NB"),
        p=count(row[4], "P"),
        q=count(row[5], "Q"),
        time_s=amount(row[6], "Time"),
        gflops=amount(row[7], "Gflops"),
        gflops_per_gpu=amount(row[8], "Gflops per GPU") if row[8] else None,
        lu_gflops=None,
        residuals=(),
    )


def _summary(lines: list[str], results: tuple[HplResult, ...], text: str) -> Mapping[str, int]:
    finished = [match for line in lines if (match := _FINISHED.fullmatch(line))]
    if len(finished) > 1:
        raise ParseError(f"{len(finished)} HPL runs in one output", kind=RefusalKind.CONTRADICTORY)
    if not finished or _END not in lines:
        raise hpl_words.refusal_without_summary(text, lines, results)
    counts = {"tests": count(finished[0][1], "tests")}
    for match in filter(None, map(_COUNTS.fullmatch, lines)):
        counts[match[2] or match[3] or match[4]] = count(match[1], "tests")
    return counts


def _refuse_contradictions(report: HplReport) -> None:
    seen = {
        "passed": (report.passed, [result for result in report.results if result.passed]),
        "failed": (report.failed, [each for each in report.results if each.passed is False]),
        "unchecked": (report.unchecked, [each for each in report.results if each.passed is None]),
    }
    for what, (counted, found) in seen.items():
        if counted != len(found):
            raise ParseError(
                f"HPL counts {counted} tests {what}, and {len(found)} of its rows are",
                kind=RefusalKind.CONTRADICTORY,
            )
    if report.tests != len(report.results) + report.skipped:
        raise ParseError(
            f"HPL finished {report.tests} tests and shows {len(report.results)} rows",
            kind=RefusalKind.CONTRADICTORY,
        )
