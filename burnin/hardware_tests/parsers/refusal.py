"""Why a tool's output was not taken for a measurement."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class RefusalKind(StrEnum):
    """The one fact a caller may branch on."""

    COLLECTIVE_TIMEOUT = "collective_timeout"
    CONNECT_ERROR = "connect_error"
    CONTRADICTORY = "contradictory"
    CRASH = "crash"
    DRIVER_ERROR = "driver_error"
    ERROR = "error"
    IO_ERROR = "io_error"
    LAUNCH_ERROR = "launch_error"
    MALFORMED = "malformed"
    NO_DATA = "no_data"
    NO_DEVICE = "no_device"
    RDMA_ERROR = "rdma_error"
    SETUP_ERROR = "setup_error"
    TEST_FAILURE = "test_failure"
    TEXT_REPORT = "text_report"
    TOOL_ERROR = "tool_error"
    TRUNCATED = "truncated"
    UNSUPPORTED_VERSION = "unsupported_version"
    USAGE = "usage"


class ParseError(Exception):
    """The output cannot be taken for a measurement. Reading it again will not help.

    `facts` holds what could be learned all the same, by name, units in the names: how many rows
    were complete, which rank was blamed. It is for people; a verdict rests on none of it but the
    completion `status` of RDMA_ERROR.
    """

    def __init__(
        self, reason: str, *, kind: RefusalKind, facts: Mapping[str, object] | None = None
    ) -> None:
        super().__init__(reason)
        self.reason, self.kind, self.facts = reason, kind, dict(facts or {})
