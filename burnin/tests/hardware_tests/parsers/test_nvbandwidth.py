from __future__ import annotations

import json
from typing import Any

import pytest

from burnin.hardware_tests.parsers.nvbandwidth import parse
from burnin.hardware_tests.parsers.nvbandwidth_report import CaseStatus
from burnin.hardware_tests.parsers.refusal import RefusalKind
from burnin.tests.hardware_tests.parsers.shipped import refusal_of

HEAD = "nvbandwidth Version: v0.8\nBuilt from Git version: v0.8\n\nDriver Version: 570.1\n\n"
PEERS = (
    "Running device_to_device_memcpy_read_ce.\n"
    "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s)\n"
    "           0         1\n"
    " 0       N/A    274.89\n"
    " 1    276.76       N/A\n\n"
    "SUM device_to_device_memcpy_read_ce 551.65\n"
    "COEFFICIENT_OF_VARIATION device_to_device_memcpy_read_ce 0.00\n\n"
)
LATENCY = (
    "Running host_device_latency_sm.\n"
    "memory latency SM CPU(row) <-> GPU(column) (ns)\n"
    "           0         1\n"
    " 0    649.88    700.12\n\n"
    "SUM host_device_latency_sm 1350.00\n\n"
)
NOTE = (
    "NOTE: The reported results may not reflect the full capabilities of the platform.\n"
    "Performance can vary with software drivers, hardware clocks, and system topology.\n"
)


def test_the_slowest_pair_of_gpus_is_the_worst() -> None:
    case = parse(HEAD + PEERS + NOTE).cases[0]

    assert (case.worst, case.unit, case.columns) == (274.89, "GB/s", ("0", "1"))
    assert case.matrix[0][0] is None


def test_a_gpus_own_cell_of_zero_is_no_pair() -> None:
    assert parse(PEERS.replace("N/A", "0.00")).cases[0].worst == 274.89


def test_the_largest_latency_is_the_worst() -> None:
    case = parse(HEAD + LATENCY + NOTE).cases[0]

    assert (case.worst, case.unit) == (700.12, "ns")


@pytest.mark.parametrize(
    ("words", "status"),
    [
        ("Waived: \n", CaseStatus.WAIVED),
        ("ERROR: Testcase all_to_one not found!\n", CaseStatus.ERROR),
        ("Running all_to_one.\nWaived: too few devices\n", CaseStatus.WAIVED),
    ],
)
def test_what_was_not_run_is_not_passed(words: str, status: CaseStatus) -> None:
    report = parse(HEAD + PEERS + words + LATENCY + NOTE)

    assert [case.status for case in report.cases] == [
        CaseStatus.PASSED,
        status,
        CaseStatus.PASSED,
    ]


WRONG = " Invalid value when checking the pattern at 0x735f80000000"


def test_data_that_came_out_wrong_are_a_finding() -> None:
    running = "Running device_to_device_memcpy_read_ce.\n"
    ending = f"{WRONG}\n Current offset : 200064\nASSERT in expression h_errorFlag == 0 in x\n"

    report = parse(HEAD + LATENCY + running + ending)

    assert report.wrong_data == (f"device_to_device_memcpy_read_ce:{WRONG}",)
    assert report.cases == ()


def test_data_that_came_out_wrong_are_a_finding_in_json() -> None:
    report = parse(json.dumps({"nvbandwidth": {"error": f"{WRONG}: offset [8/16]"}}))

    assert len(report.wrong_data) == 1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (HEAD + PEERS + LATENCY, RefusalKind.TRUNCATED),
        (HEAD, RefusalKind.TRUNCATED),
        (PEERS.partition(" 1    276")[0], RefusalKind.TRUNCATED),
        (LATENCY.partition("SUM")[0], RefusalKind.TRUNCATED),
        (HEAD + PEERS.replace("    274.89", "") + NOTE, RefusalKind.TRUNCATED),
        (HEAD + PEERS.replace("274.89", "74.89") + NOTE, RefusalKind.CONTRADICTORY),
        (HEAD + PEERS.replace("274.89", "nan") + NOTE, RefusalKind.MALFORMED),
        (
            HEAD + "CUDA_ERROR_ILLEGAL_ADDRESS: [an illegal memory access] in expression x\n",
            RefusalKind.ERROR,
        ),
        ("hello\n", RefusalKind.MALFORMED),
    ],
)
def test_text_that_is_no_whole_report_is_refused(text: str, kind: RefusalKind) -> None:
    assert refusal_of(parse, text).kind is kind


CASE = {
    "name": "device_to_device_memcpy_read_ce",
    "bandwidth_description": "memcpy CE GPU(row) -> GPU(column) bandwidth (GB/s) ",
    "bandwidth_matrix": [["N/A", "274.89"], ["276.76", "N/A"]],
    "sum": 551.65,
    "status": "Passed",
}


def document(**changes: Any) -> str:
    case = {**CASE, **changes}
    return json.dumps({"nvbandwidth": {"version": "v0.8", "testcases": [case]}}, indent=1)


def test_json_says_what_text_says() -> None:
    assert parse(document()).cases[0].matrix == parse(PEERS).cases[0].matrix
    assert parse(document()).cases[0].worst == 274.89


def test_garbage_with_braces_before_the_json_is_passed_over() -> None:
    assert parse("{libnuma: warning}\n" + document()) == parse(document())


def test_a_failed_case_is_told_with_its_words() -> None:
    case = parse(document(status="Error", error="wrong data", bandwidth_matrix=[], sum=None)).cases[
        0
    ]

    assert (case.status, case.message, case.worst) == (CaseStatus.ERROR, "wrong data", None)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (document(sum=600.0), RefusalKind.CONTRADICTORY),
        (document(bandwidth_matrix=[]), RefusalKind.CONTRADICTORY),
        (document(bandwidth_matrix=[["1"], ["1", "2"]]), RefusalKind.CONTRADICTORY),
        (document(bandwidth_matrix=[["nan"]]), RefusalKind.MALFORMED),
        (document(status="Running"), RefusalKind.MALFORMED),
        (document()[:-9], RefusalKind.TRUNCATED),
        (f"{document()}\n{document()}", RefusalKind.CONTRADICTORY),
        ('{"nvbandwidth": {"testcases": []}}', RefusalKind.NO_DATA),
    ],
)
def test_json_that_is_no_whole_report_is_refused(text: str, kind: RefusalKind) -> None:
    assert refusal_of(parse, text).kind is kind
