"""What IOR says in plain words: failures, wrong data, warnings."""

from __future__ import annotations

import re

from burnin.hardware_tests.parsers.json_report import last_line
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_ERROR = re.compile(r"^(?:ior )?ERROR: (.+?)(?:, \(\S+:\d+\))?$", re.MULTILINE)
_IO_WORDS = re.compile(
    r"failed\. Error|errno|Input/output error|No such file|No space left|Permission denied"
    r"|cannot open|write\(|read\(|stale",
    re.IGNORECASE,
)
_WRONG_DATA = re.compile(r"incorrect data on (?:write|read) \((-?\d{1,18}) errors found\)", re.I)
_WARNING = re.compile(r"^(?:ior )?WARNING: (.+)$", re.MULTILINE)


def refuse_failure(text: str) -> None:
    """Raise ParseError if IOR gave up."""
    if not text.strip():
        raise ParseError("empty output: IOR wrote nothing", kind=RefusalKind.NO_DATA)
    if found := _ERROR.search(text):
        is_io = _IO_WORDS.search(found[1])
        raise ParseError(found[1], kind=RefusalKind.IO_ERROR if is_io else RefusalKind.USAGE)


def refusal_without_summary(text: str) -> ParseError:
    if "MPI Coordinated Test of Parallel I/O" in text:
        return ParseError("IOR's report stops before its summary", kind=RefusalKind.TRUNCATED)
    return ParseError(f"not IOR's report: {last_line(text)}", kind=RefusalKind.MALFORMED)


def data_errors(text: str) -> int | None:
    """Return how much data was wrong; None where IOR's counter ran over."""
    counts = [int(number) for number in _WRONG_DATA.findall(text)]
    return None if any(number < 0 for number in counts) else sum(counts)


def warnings(text: str) -> tuple[str, ...]:
    return tuple(_WARNING.findall(text))
