"""What HPL says when it has no result, and what it warns of when it has."""

from __future__ import annotations

import re
from collections.abc import Sequence

from burnin.hardware_tests.parsers.hpl_report import HplResult
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_WARNING = re.compile(r"!!!! WARNING: .*")
_USAGE = re.compile(r">>> (.+?) <<<")
_PROGRESS = re.compile(r"Fraction=\s*([\d.]+)|Prog=\s*([\d.]+%)")
_HPL = re.compile(r"HPLinpack|HPL-NVIDIA|HPL_|rocHPL|T/V  +N |Mflops=|Prog=|HPL\.dat|Gflops")


def warnings_in(lines: Sequence[str]) -> tuple[str, ...]:
    """Return NVIDIA's warnings of slow clocks, heat and power, each once."""
    return tuple(dict.fromkeys(line for line in lines if _WARNING.fullmatch(line)))


def cut(results: Sequence[HplResult], why: str) -> ParseError:
    """Return the refusal of an output that stops too early, with what was complete by then."""
    last = results[-1] if results else None
    done = f"; the last result is N={last.n}, {last.gflops:g} Gflops" if last else ""
    return ParseError(
        f"the HPL output is cut: {why}{done}",
        kind=RefusalKind.TRUNCATED,
        facts={"complete_results": sum(result.passed is not None for result in results)},
    )


def refusal_without_summary(
    text: str, lines: Sequence[str], results: Sequence[HplResult]
) -> ParseError:
    """Say why there is no summary."""
    if not text.strip():
        return ParseError("empty output: HPL wrote nothing", kind=RefusalKind.NO_DATA)
    usage = _USAGE.search(text)
    if usage and not results:
        return ParseError(f"HPL: {usage[1]}", kind=RefusalKind.USAGE)
    if results:
        return cut(results, "it has no summary")
    progress = [match for match in map(_PROGRESS.search, lines) if match]
    if progress:
        last = progress[-1]
        return cut((), f"it has no result row; its last progress is {last[1] or last[2]}")
    if _HPL.search(text):
        return cut((), "it has no result row")
    last_line = text.strip().splitlines()[-1]
    return ParseError(f"not an HPL output: {last_line:.200}", kind=RefusalKind.MALFORMED)
