"""The JSON of `dcgmi diag -j`. It has no stable schema: 2.x and 3.x count GPUs, 4.x entities."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from burnin.hardware_tests.parsers import json_report
from burnin.hardware_tests.parsers.dcgmi_report import (
    DiagReport,
    DiagTest,
    DiagWarning,
    EntityResult,
    status_of,
    worst,
)
from burnin.hardware_tests.parsers.number import count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

ROOTS = ("DCGM Diagnostic", "DCGM GPU Diagnostic")
_TOOL = "dcgmi diag"


class _Warning(json_report.Edge):
    text: str = Field(alias="warning")
    error_id: int | None = None
    error_category: int | None = None
    error_severity: int | None = None


class _Said(json_report.Edge):
    status: str
    warnings: tuple[_Warning | str, ...] | str = ()
    info: tuple[str, ...] | str = ()


class _Result(_Said):
    gpu_id: str | int | None = None
    gpu_ids: str | None = None
    entity_group: str | None = None
    entity_id: int | None = None


class _Test(json_report.Edge):
    name: str
    results: tuple[_Result | None, ...] = ()  # null for a GPU that did not run the test
    test_summary: _Said | None = None


class _Category(json_report.Edge):
    category: str
    tests: tuple[_Test, ...]


class _Root(json_report.Edge):
    test_categories: tuple[_Category, ...]


class _Entities(json_report.Edge):
    entity_group: str
    entities: tuple[dict[str, Any], ...] = ()


class _Metadata(json_report.Edge):
    version: str | None = None
    driver_version: str | None = Field(default=None, alias="Driver Version Detected")


class _Around(json_report.Edge):
    entity_groups: tuple[_Entities, ...] | None = None
    metadata: _Metadata | None = None


def parse(text: str, root: str) -> DiagReport:
    """Return the report; raise ParseError for a diagnostic that could not run."""
    document = json_report.with_root(text, root, tool=_TOOL)
    _refuse_runtime_error(document, document[root])
    found = json_report.validated(_Root, document[root], tool=_TOOL)
    around = json_report.validated(_Around, document, tool=_TOOL)
    metadata = around.metadata or _Metadata()
    tests = tuple(
        _test(category.category, test)
        for category in found.test_categories
        for test in category.tests
    )
    return DiagReport(
        root=root,
        version=metadata.version,
        driver_version=metadata.driver_version,
        gpu_count=_gpu_count(around, tests),
        tests=tests,
    )


def _refuse_runtime_error(*documents: object) -> None:
    for document in documents:
        error = document.get("runtime_error") if isinstance(document, dict) else None
        if error:
            raise ParseError(f"dcgmi diag: {error!s:.300}", kind=RefusalKind.TOOL_ERROR)


def _gpu_count(around: _Around, tests: tuple[DiagTest, ...]) -> int | None:
    if around.entity_groups is not None:
        groups = [group for group in around.entity_groups if group.entity_group == "GPU"]
        return sum(len(group.entities) for group in groups)
    seen = {each.index for test in tests for each in test.entities if each.group == "GPU"}
    return len(seen) or None


def _test(category: str, test: _Test) -> DiagTest:
    results = [result for result in test.results if result is not None]
    summary = test.test_summary
    status = status_of(summary.status) if summary else worst(map(_status, results))
    if status is None:
        raise ParseError(
            f"dcgmi diag gives no result of {test.name:.60}", kind=RefusalKind.MALFORMED
        )
    common = [result for result in results if not _entities(result)]
    said = ([summary] if summary else []) + common
    return DiagTest(
        category=category,
        name=test.name,
        status=status,
        entities=tuple(entity for result in results for entity in _entities(result)),
        warnings=tuple(warning for each in said for warning in _warnings(each)),
        info=tuple(line for each in said for line in _info(each)),
    )


def _status(result: _Result) -> Any:
    return status_of(result.status)


def _entities(result: _Result) -> tuple[EntityResult, ...]:
    """Return a result for each entity it speaks of; none for a result of all together."""
    group, indices = result.entity_group or "GPU", _indices(result)
    return tuple(
        EntityResult(
            group, index, status_of(result.status), tuple(_warnings(result)), tuple(_info(result))
        )
        for index in indices
    )


def _indices(result: _Result) -> list[int]:
    if result.entity_id is not None:
        return [result.entity_id]
    words = str(result.gpu_ids if result.gpu_id is None else result.gpu_id).split(",")
    if result.gpu_id is None and result.gpu_ids is None:
        return []
    return [count(word.strip(), "gpu_id") for word in words]


def _warnings(said: _Said) -> list[DiagWarning]:
    listed = (said.warnings,) if isinstance(said.warnings, str) else said.warnings
    return [
        DiagWarning(each)
        if isinstance(each, str)
        else DiagWarning(each.text, each.error_id, each.error_category, each.error_severity)
        for each in listed
    ]


def _info(said: _Said) -> tuple[str, ...]:
    return (said.info,) if isinstance(said.info, str) else said.info
