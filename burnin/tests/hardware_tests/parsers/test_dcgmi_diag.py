from __future__ import annotations

import json
from typing import Any

import pytest

from burnin.hardware_tests.parsers.dcgmi_diag import parse
from burnin.hardware_tests.parsers.dcgmi_nvlink import NvlinkErrors
from burnin.hardware_tests.parsers.dcgmi_report import DiagReport, DiagStatus
from burnin.hardware_tests.parsers.refusal import RefusalKind
from burnin.tests.hardware_tests.parsers.shipped import refusal_of, shipped

BORDER = f"+{'-' * 27}+{'-' * 48}+\n"
HEAD = (
    f"Successfully ran diagnostic for group.\n{BORDER}"
    f"| {'Diagnostic':<25} | {'Result':<46} |\n+{'=' * 27}+{'=' * 48}+\n"
    "|-----  Metadata  ----------+------------------------------------------------|\n"
    f"| {'DCGM Version':<25} | {'3.3.5':<46} |\n"
    "+-----  Hardware  ----------+------------------------------------------------+\n"
)


def row(label: str, words: str) -> str:
    return f"| {label:<25} | {words:<46} |\n"


def table(*rows: str) -> str:
    return HEAD + "".join(rows) + BORDER


def report(text: str) -> DiagReport:
    found = parse(text)
    assert isinstance(found, DiagReport)
    return found


def test_a_gpu_that_failed_is_told_apart_from_one_that_passed() -> None:
    found = report(shipped("dcgmi-diag", "r3_v3_text_mixed_gpu_fail.txt"))

    memory = next(test for test in found.tests if test.name == "GPU Memory")
    assert [entity.index for entity in memory.entities_at(DiagStatus.FAIL)] == [0]
    assert memory.warnings[0].text.endswith("'uncorrectable ECC error encountered'.")
    assert (found.version, found.gpu_count, found.verdict) == ("3.3.5", 2, DiagStatus.FAIL)


def test_a_long_list_of_gpus_goes_on_in_the_next_row() -> None:
    found = report(
        table(
            row("PCIe", "Pass - GPUs: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10"),
            row("", ", 11, 12, 13   "),
            row("", "Fail - GPU: 14   "),
        )
    )

    assert len(found.tests[0].entities_at(DiagStatus.PASS)) == 14
    assert found.tests[0].status is DiagStatus.FAIL


def test_a_test_that_broke_blames_no_gpu() -> None:
    found = report(
        table(
            row("pcie", "Fail"),
            row("Warning", "There was an internal error"),
            row("", "GPU0: Pass"),
            row("", "GPU1: Pass"),
        )
    )

    assert found.tests[0].broke
    assert found.tests[0].warnings[0].text == "There was an internal error"


def test_a_diagnostic_that_skipped_everything_tested_nothing() -> None:
    assert report(table(row("Targeted Power", "Skip - All"))).verdict is DiagStatus.SKIP


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (table(row("pcie", "Pass"), row("", "GPU0: Fail")), RefusalKind.CONTRADICTORY),
        (table(row("pcie", "Perhaps")), RefusalKind.MALFORMED),
        (table(row("pcie", "")), RefusalKind.MALFORMED),
        (table(), RefusalKind.NO_DATA),
        (table(row("pcie", "Pass")).removesuffix(BORDER), RefusalKind.TRUNCATED),
        (table(row("pcie", "Pass"))[:-2], RefusalKind.TRUNCATED),
        ("Successfully ran diagnostic for group.\n", RefusalKind.TRUNCATED),
        ("Error: Diagnostic could not be run\n", RefusalKind.TOOL_ERROR),
        ("hello\n", RefusalKind.MALFORMED),
    ],
)
def test_a_table_that_is_not_whole_and_consistent_is_refused(text: str, kind: RefusalKind) -> None:
    assert refusal_of(parse, text).kind is kind


def document(*results: Any, root: str = "DCGM Diagnostic", **test: Any) -> str:
    tests = [{"name": "memory", "results": list(results), **test}]
    return json.dumps({root: {"test_categories": [{"category": "Hardware", "tests": tests}]}})


def entity(index: int, status: str = "Pass", **more: Any) -> dict[str, Any]:
    return {"entity_group": "GPU", "entity_id": index, "status": status, **more}


def test_findings_carry_the_codes_of_dcgm() -> None:
    finding = {"warning": "ECC", "error_id": 92, "error_category": 7, "error_severity": 2}

    test = report(document(entity(1, "Fail", warnings=[finding]))).tests[0]

    warning = test.all_warnings[0]
    assert (warning.text, warning.error_id, warning.error_severity) == ("ECC", 92, 2)
    assert test.status is DiagStatus.FAIL


def test_words_before_the_json_are_passed_over() -> None:
    noise = "libnuma: Warning: /sys not mounted\n{fabric manager}\n"

    assert report(noise + document(entity(0))).verdict is DiagStatus.PASS


def test_a_gpu_without_result_is_no_entity() -> None:
    assert len(report(document(None, entity(1))).tests[0].entities) == 1


def test_the_gpus_of_old_versions_are_words() -> None:
    old = document(
        {"gpu_id": "2", "status": "Skip", "info": "not run"},
        {"gpu_ids": "0,1", "status": "PASS", "warnings": ["slow"]},
        root="DCGM GPU Diagnostic",
    )

    found = report(old)

    assert (found.gpu_count, found.verdict) == (3, DiagStatus.PASS)
    assert [each.index for each in found.tests[0].entities_at(DiagStatus.SKIP)] == [2]


def test_a_cpu_is_not_counted_as_a_gpu() -> None:
    cpu = {"entity_group": "CPU", "entity_id": 0, "status": "Pass"}

    assert report(document(entity(0), cpu)).gpu_count == 1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (document(entity(0, "Fail"), test_summary={"status": "Pass"}), RefusalKind.CONTRADICTORY),
        (document(entity(0, "Perhaps")), RefusalKind.MALFORMED),
        (document(), RefusalKind.MALFORMED),
        (document(entity(0))[:-1], RefusalKind.TRUNCATED),
        (document(entity(0)) + "\n" + document(entity(0)), RefusalKind.CONTRADICTORY),
        ('{"DCGM Diagnostic": {"test_categories": []}}', RefusalKind.NO_DATA),
        ('{"DCGM Diagnostic": {"runtime_error": "no NVVS"}}', RefusalKind.TOOL_ERROR),
        ('{"DCGM Diagnostic": []}', RefusalKind.MALFORMED),
        ('{"some": "thing"}', RefusalKind.MALFORMED),
    ],
)
def test_json_that_is_not_whole_and_consistent_is_refused(text: str, kind: RefusalKind) -> None:
    assert refusal_of(parse, text).kind is kind


def test_links_without_errors_are_not_listed_as_having_some() -> None:
    links = {
        f"Link {index}": {"children": {"CRC Data Error": {"value": str(index)}}}
        for index in range(2)
    }

    errors = parse(json.dumps({"body": links, "header": ["NVLINK Error Counts", "GPU 3"]}))

    assert isinstance(errors, NvlinkErrors)
    assert (errors.gpu, errors.nonzero) == (3, {"Link 1": {"CRC Data Error": 1}})


@pytest.mark.parametrize("value", ["-1", "nan", ""])
def test_a_count_of_link_errors_that_is_none_is_refused(value: str) -> None:
    links = {"Link 0": {"children": {"CRC Data Error": {"value": value}}}}

    refusal = refusal_of(
        parse, json.dumps({"body": links, "header": ["NVLINK Error Counts", "GPU 3"]})
    )

    assert refusal.kind is RefusalKind.MALFORMED
