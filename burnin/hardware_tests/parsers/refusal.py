"""Why a tool's output was not taken for a measurement."""

from __future__ import annotations

from enum import StrEnum


class RefusalKind(StrEnum):
    """The one fact a caller may branch on."""

    NO_DATA = "no_data"
    TRUNCATED = "truncated"
    MALFORMED = "malformed"
    TEXT_REPORT = "text_report"
    UNSUPPORTED_VERSION = "unsupported_version"
    USAGE = "usage"
    SETUP_ERROR = "setup_error"
    CRASH = "crash"
    TOOL_ERROR = "tool_error"
    CONTRADICTORY = "contradictory"


class ParseError(Exception):
    """The output cannot be taken for a measurement. Reading it again will not help."""

    def __init__(self, reason: str, *, kind: RefusalKind) -> None:
        super().__init__(reason)
        self.reason, self.kind = reason, kind
