"""What perftest says in plain words: why there is no result, and what may be wrong with one."""

from __future__ import annotations

import re

from burnin.hardware_tests.parsers.json_report import last_line
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_COMPLETION = re.compile(r"Failed status (\d{1,9}): wr_id (\S+) synd?rom (\S+)")

# The work completion statuses of the verbs library that a failing link or memory leaves.
_STATUS_WORDS = {
    4: "local protection error",
    5: "flushed",
    9: "remote invalid request",
    10: "remote access error",
    11: "remote operation error",
    12: "retry exceeded",
    13: "receiver not ready, retry exceeded",
}

_FAILURES = (
    (RefusalKind.CONNECT_ERROR, re.compile(r"Couldn't connect to \S+")),
    (
        RefusalKind.NO_DEVICE,
        re.compile(r"Unable to find the Infiniband/RoCE device|IB device \S+ not found"),
    ),
    (RefusalKind.USAGE, re.compile(r"unrecognized option '[^'\n]*'|invalid option -- '[^'\n]*'")),
    (RefusalKind.NO_DEVICE, re.compile(r"Did not detect devices")),
    (RefusalKind.USAGE, re.compile(r"Invalid Command or flag")),
    (
        RefusalKind.SETUP_ERROR,
        re.compile(
            r"(?:Couldn't|Failed to|Unable to|Can't)"
            r" (?:allocate|create|modify|register|initialize|init|set|produce|read|get)[^\n]*"
        ),
    ),
    (RefusalKind.RDMA_ERROR, re.compile(r"Completion with error[^\n]*|Failed to complete [^\n]*")),
)
_WARNING = re.compile(r"^.*(?:WARNING|Conflicting CPU frequency values).*$", re.MULTILINE)


def refuse_failure(text: str) -> None:
    """Raise ParseError if perftest says that it failed, whatever it printed besides."""
    if not text.strip():
        raise ParseError("empty output: perftest wrote nothing", kind=RefusalKind.NO_DATA)
    if completion := _COMPLETION.search(text):
        status, _, syndrome = completion.groups()
        meaning = _STATUS_WORDS.get(int(status), "see ibv_wc_status")
        raise ParseError(
            f"Failed status {status} ({meaning}) syndrom {syndrome}",
            kind=RefusalKind.RDMA_ERROR,
            facts={"status": int(status), "syndrome": syndrome},
        )
    for kind, words in _FAILURES:
        if found := words.search(text):
            raise ParseError(found[0].strip(), kind=kind)


def refusal_without_rows(text: str, *, has_header: bool) -> ParseError:
    """Return the refusal that fits an output that tells of no failure and has no row."""
    if has_header:
        return ParseError("perftest's table has no row", kind=RefusalKind.TRUNCATED)
    if "Waiting for client to connect" in text:
        return ParseError("no client connected", kind=RefusalKind.NO_DATA)
    if "Number of qps" in text or " Test" in text:
        return ParseError("perftest's output stops before its table", kind=RefusalKind.TRUNCATED)
    return ParseError(f"not perftest's output: {last_line(text)}", kind=RefusalKind.MALFORMED)


def warnings(text: str) -> tuple[str, ...]:
    return tuple(line.strip() for line in _WARNING.findall(text))
