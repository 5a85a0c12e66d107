from __future__ import annotations

from typing import Any

from burnin.hardware_tests.parsers.dcgmi_nvlink import NvlinkErrors
from burnin.hardware_tests.parsers.dcgmi_report import DiagReport, DiagStatus, DiagTest
from burnin.tests.hardware_tests.parsers.corpus.comparison import Whole

VERDICTS = {DiagStatus.FAIL: "failed"}


def as_expected(report: DiagReport | NvlinkErrors) -> dict[str, Any]:
    if isinstance(report, NvlinkErrors):
        return {"gpu": report.gpu, "errors": Whole(report.nonzero), "links": len(report.links)}
    return {
        "root": report.root,
        "verdict": VERDICTS.get(report.verdict, str(report.verdict)),
        "tests": len(report.tests),
        "gpus": report.gpu_count,
        "failed": _at(report, DiagStatus.FAIL),
        "warned": _at(report, DiagStatus.WARN),
        "passed": [test.name for test in report.tests_at(DiagStatus.PASS)],
        "skipped": [test.name for test in report.tests_at(DiagStatus.SKIP)],
        "passed_gpus": {
            test.name: _indices(report, test, DiagStatus.PASS)
            for test in report.tests_at(DiagStatus.FAIL)
        },
        "not_pass": Whole(_not_passed(report)),
        "warnings": sum(len(test.all_warnings) for test in report.tests),
        "error_ids": sorted(
            {
                warning.error_id
                for test in report.tests
                for warning in test.all_warnings
                if warning.error_id is not None
            }
        ),
        "first_line_ok": '"Successfully ran diagnostic" is NOT a pass',
    }


def _at(report: DiagReport, status: DiagStatus) -> Any:
    """Name the tests at a status; with their GPUs where any test speaks of single ones."""
    tests = report.tests_at(status)
    if not any(test.entities for test in report.tests):
        return [test.name for test in tests]
    return Whole({test.name: _blamed(report, test, status) for test in tests})


def _blamed(report: DiagReport, test: DiagTest, status: DiagStatus) -> Any:
    if test.broke:
        return "test-level (internal error)"
    return _indices(report, test, status) if test.entities else "all"


def _indices(report: DiagReport, test: DiagTest, status: DiagStatus) -> list[Any]:
    """Name GPUs by number as 4.x does, by word as the others do."""
    indices = [entity.index for entity in test.entities_at(status)]
    return indices if report.root == "DCGM Diagnostic" else [str(index) for index in indices]


def _not_passed(report: DiagReport) -> dict[str, Any]:
    found: dict[str, dict[str, list[Any]]] = {}
    for test in report.tests:
        for status in (DiagStatus.FAIL, DiagStatus.WARN, DiagStatus.SKIP):
            if indices := _indices(report, test, status):
                found.setdefault(test.name, Whole())[status.upper()] = indices
    return found
