"""`dcgmi diag` in JSON (2.x, 3.x, 4.x) and in text, and `dcgmi nvlink -e` in JSON.

Neither the exit code nor "Successfully ran diagnostic" is a verdict: they say that it ran.
"""

from __future__ import annotations

from burnin.hardware_tests.parsers import dcgmi_json, dcgmi_nvlink, dcgmi_text, json_report
from burnin.hardware_tests.parsers.dcgmi_nvlink import NvlinkErrors
from burnin.hardware_tests.parsers.dcgmi_report import DiagReport, refuse_contradictions
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind


def parse(text: str) -> DiagReport | NvlinkErrors:
    """Return the report; raise ParseError where the diagnostic did not run or is not whole."""
    if not text.strip():
        raise ParseError("empty output: dcgmi wrote nothing", kind=RefusalKind.NO_DATA)
    if dcgmi_nvlink.MARK in text:
        return dcgmi_nvlink.parse(text)
    root = next((root for root in dcgmi_json.ROOTS if f'"{root}"' in text), None)
    if root is None and any(json_report.openings(text)):
        json_report.only(text, tool="dcgmi")
        raise ParseError("dcgmi wrote JSON of no known root", kind=RefusalKind.MALFORMED)
    report = dcgmi_json.parse(text, root) if root else dcgmi_text.parse(text)
    refuse_contradictions(report)
    return report
