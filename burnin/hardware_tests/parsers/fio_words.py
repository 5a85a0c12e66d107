"""What fio says in plain words, when it leaves no JSON report."""

from __future__ import annotations

import re

from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_TEXT_REPORT = re.compile(r"\(groupid=\d+, jobs=\d+\): err=\s*\d+")

# In order of trust: a bad directory is followed by "failed parsing directory=", which alone
# would blame the command line.
_KINDS = (
    (RefusalKind.CONNECT_ERROR, re.compile(r"failed to connect|client/server .* mismatch")),
    (
        RefusalKind.SETUP_ERROR,
        re.compile(
            r"is not a directory|No such file|Permission denied|not found|"
            r"creation disallowed|No space left|Read-only file system|failed to load engine",
        ),
    ),
    (
        RefusalKind.USAGE,
        re.compile(r"failed parsing|unrecognized option|bad option|Bad option|no jobs defined"),
    ),
)


def refusal_without_report(text: str) -> ParseError:
    """Return the refusal that fits an output without any JSON report."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if not lines:
        return ParseError("empty output: fio wrote no report", kind=RefusalKind.NO_DATA)
    if lines[0].startswith("{"):
        return ParseError("fio's JSON report is cut", kind=RefusalKind.TRUNCATED)
    if _TEXT_REPORT.search(text):
        return ParseError(
            "this is fio's report in text form; run fio with --output-format=json",
            kind=RefusalKind.TEXT_REPORT,
        )
    return _in_its_own_words(lines)


def _in_its_own_words(lines: list[str]) -> ParseError:
    for kind, words in _KINDS:
        telling = next((line for line in lines if words.search(line)), None)
        if telling is not None:
            return ParseError(telling, kind=kind)
    return ParseError(
        f"fio ended without a report; its last words: {lines[-1]}", kind=RefusalKind.CRASH
    )
