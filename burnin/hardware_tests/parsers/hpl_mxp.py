"""HPL-MxP's result block. Its score is "GFLOPS ="; "LU GFLOPS =" leaves out the refinement."""

from __future__ import annotations

import re

from burnin.hardware_tests.parsers import hpl_words
from burnin.hardware_tests.parsers.hpl_report import HplReport, HplResult, residual_of
from burnin.hardware_tests.parsers.number import amount, count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_MARK = re.compile(r"HPL[-_ ]MxP|HPL[-_ ]AI\b|hpl-mxp", re.IGNORECASE)
_FENCE = re.compile(r"\*{6}\s*HPL[- ]MxP Result\s*\*{6}")
_SIZES = re.compile(r"N = (\d+), NB = (\d+), NPROW = (\d+), NPCOL = (\d+)\b.*")
_SCORE = re.compile(r"GFLOPS\s*=\s*(\S+), per GPU\s*=\s*(\S+).*")
_LU = re.compile(r"LU GFLOPS\s*=\s*(\S+), per GPU\s*=\s*(\S+).*")
_RESIDUAL = re.compile(r"\|\|Ax-b\|\|_oo / .*=\s*(\S+) \.{6} (PASSED|FAILED)")


def is_mxp(text: str) -> bool:
    """Whether this is HPL-MxP's output, whole or not."""
    return _MARK.search(text) is not None


def parse(text: str) -> HplReport:
    """Return the report with its one result; raise ParseError when its block is not whole."""
    lines = [line.strip() for line in text.splitlines()]
    fences = [index for index, line in enumerate(lines) if _FENCE.fullmatch(line)]
    if len(fences) < 2:
        raise hpl_words.cut((), "its result block is not whole")
    if len(fences) > 2:
        raise ParseError("several HPL-MxP results in one output", kind=RefusalKind.CONTRADICTORY)
    block = lines[fences[0] + 1 : fences[1]]
    sizes, score, lu = (_only(pattern, block) for pattern in (_SIZES, _SCORE, _LU))
    residual = _only(_RESIDUAL, block)
    result = HplResult(
        variant="HPL-MxP",
        n=count(sizes[1], "N"),
        nb=count(sizes[2], "NB"),
        p=count(sizes[3], "NPROW"),
        q=count(sizes[4], "NPCOL"),
        time_s=None,
        gflops=amount(score[1], "GFLOPS"),
        gflops_per_gpu=amount(score[2], "GFLOPS per GPU"),
        lu_gflops=amount(lu[1], "LU GFLOPS"),
        residuals=(residual_of(residual[1], residual[2]),),
    )
    return HplReport(
        variant="hpl-mxp",
        results=(result,),
        tests=1,
        passed=int(result.passed is True),
        failed=int(result.passed is False),
        unchecked=0,
        skipped=0,
        warnings=hpl_words.warnings_in(lines),
    )


def _only(pattern: re.Pattern[str], block: list[str]) -> re.Match[str]:
    found = [match for line in block if (match := pattern.fullmatch(line))]
    if len(found) != 1:
        raise ParseError(
            f"HPL-MxP's result block has {len(found)} lines of {pattern.pattern[:12]!r}",
            kind=RefusalKind.CONTRADICTORY if found else RefusalKind.TRUNCATED,
        )
    return found[0]
