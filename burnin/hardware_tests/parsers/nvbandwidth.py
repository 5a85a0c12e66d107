"""nvbandwidth, from its text or its JSON report (`-j`)."""

from __future__ import annotations

import re

from pydantic import Field

from burnin.hardware_tests.parsers import json_report, nvbandwidth_text
from burnin.hardware_tests.parsers.number import amount
from burnin.hardware_tests.parsers.nvbandwidth_report import (
    BandwidthCase,
    CaseStatus,
    NvbandwidthReport,
)
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_ROOT = "nvbandwidth"
_TOOL = "nvbandwidth"
_UNIT = re.compile(r"\((GB/s|ns)\)")


class _Case(json_report.Edge):
    name: str
    status: str
    bandwidth_description: str | None = None
    bandwidth_matrix: tuple[tuple[str, ...], ...] = ()
    sum: float | None = Field(default=None, ge=0)
    error: str | tuple[str, ...] = ""


class _Root(json_report.Edge):
    version: str | None = None
    driver_version: str | None = Field(default=None, alias="Driver Version")
    error: str | tuple[str, ...] | None = None
    testcases: tuple[_Case, ...] | None = None


class _Document(json_report.Edge):
    nvbandwidth: _Root


def parse(text: str) -> NvbandwidthReport:
    """Return the report; raise ParseError on an error of the tool or what is not whole."""
    if nvbandwidth_text.WRONG_DATA in text:
        return nvbandwidth_text.stopped_at_wrong_data(text)
    if f'"{_ROOT}"' not in text and not text.lstrip().startswith("{"):
        return nvbandwidth_text.parse(text)
    document = json_report.validated(
        _Document, json_report.with_root(text, _ROOT, tool=_TOOL), tool=_TOOL
    )
    root = document.nvbandwidth
    if root.error is not None:
        raise ParseError(f"nvbandwidth: {_words(root.error):.300}", kind=RefusalKind.ERROR)
    if not root.testcases:
        raise ParseError("nvbandwidth ran no test case", kind=RefusalKind.NO_DATA)
    return NvbandwidthReport(
        version=root.version,
        driver_version=root.driver_version,
        cases=tuple(_case(each) for each in root.testcases),
    )


def _case(case: _Case) -> BandwidthCase:
    try:
        status = CaseStatus(case.status)
    except ValueError:
        raise ParseError(
            f"nvbandwidth gives {case.name:.80} the status '{case.status:.40}'",
            kind=RefusalKind.MALFORMED,
        ) from None
    unit = _UNIT.search(case.bandwidth_description or "")
    widths = {len(row) for row in case.bandwidth_matrix}
    if status is CaseStatus.PASSED and (unit is None or len(widths) != 1):
        raise ParseError(
            f"nvbandwidth calls {case.name:.80} passed and gives no whole matrix",
            kind=RefusalKind.CONTRADICTORY,
        )
    return nvbandwidth_text.checked(
        BandwidthCase(
            name=case.name,
            status=status,
            unit=unit[1] if unit else None,
            rows=tuple(str(index) for index in range(len(case.bandwidth_matrix))),
            columns=tuple(str(index) for index in range(max(widths, default=0))),
            matrix=tuple(
                tuple(None if cell == "N/A" else amount(cell, case.name) for cell in row)
                for row in case.bandwidth_matrix
            ),
            total=case.sum,
            message=_words(case.error),
        )
    )


def _words(error: str | tuple[str, ...]) -> str:
    return error if isinstance(error, str) else " ".join(error)
