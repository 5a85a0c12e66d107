from __future__ import annotations

import pytest

from burnin.hardware_tests.parsers.hpcc import parse
from burnin.hardware_tests.parsers.refusal import RefusalKind
from burnin.tests.hardware_tests.parsers.shipped import refusal_of, shipped

PASSED = shipped("hpcc", "pass_openblas_np2.txt")
FAILED = shipped("hpcc", "residual_failed.txt")


def test_a_clean_run_says_what_all_processes_got_and_one_alone() -> None:
    report = parse(PASSED)

    assert report.success and report.hpl.all_passed and not report.wrong_sections
    assert (report.version, report.processes) == ("1.5.0", 2)
    assert report.dgemm.slowest < report.dgemm.fastest < report.dgemm.alone


def test_a_failed_residual_is_named() -> None:
    report = parse(FAILED)

    assert not report.success and report.hpl.failed == 1
    assert report.wrong_sections == ("HPL",)


@pytest.mark.parametrize(
    ("good", "bad", "section"),
    [
        ("2097152 locations (passed)", "2097152 locations (failed)", "MPIRandomAccess"),
        ("0.01 PASSED    0.472", "0.01 FAILED    0.472", "PTRANS"),
        ("Solution Validates: avg", "Failed Validation on array a[], AvgRelAbsErr >", "StarSTREAM"),
    ],
)
def test_a_part_that_came_out_wrong_is_named(good: str, bad: str, section: str) -> None:
    text = PASSED.replace(good, bad).replace("Success=1", "Success=0")

    report = parse(text)

    assert text != PASSED and section in report.wrong_sections
    assert report.hpl.all_passed


def test_wrong_matrix_products_are_known_by_success_alone() -> None:
    report = parse(PASSED.replace("Success=1", "Success=0"))

    assert not report.success and report.wrong_sections == ()


def test_a_residual_that_is_no_number_fails() -> None:
    report = parse(FAILED.replace("0.0052904 ...... FAILED", "nan ...... FAILED"))

    assert report.hpl.results[0].passed is False


def test_a_process_without_memory_is_no_wrong_value() -> None:
    text = PASSED.replace("Node(s) with error 0", "Node(s) with error 1", 1)

    refused = refusal_of(parse, text.replace("Success=1", "Success=0"))

    assert refused.kind is RefusalKind.TOOL_ERROR
    assert refused.reason == "hpcc could not run StarRandomAccess: Node(s) with error 1"


def test_a_part_that_found_no_memory_was_not_run() -> None:
    text = PASSED.replace("M: 768", "Failed to allocate 6911063834153914401 doubles")

    assert refusal_of(parse, text).kind is RefusalKind.TOOL_ERROR


def test_a_problem_that_was_skipped_is_no_result() -> None:
    row, _, tail = PASSED.partition("||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=")
    unchecked = (row + tail.partition("\n")[2]).replace(
        "              1 tests completed and passed residual checks,\n"
        "              0 tests completed and failed residual checks,\n",
        "              1 tests completed without checking,\n",
    )

    assert refusal_of(parse, unchecked).kind is RefusalKind.USAGE


@pytest.mark.parametrize(
    ("good", "bad"),
    [
        ("Success=0", "Success=1"),
        ("HPL_Tflops=0.00265", "HPL_Tflops=0.00565"),
        (
            "This is the DARPA",
            "This is the DARPA/DOE HPC Challenge Benchmark version\nThis is the DARPA",
        ),
    ],
)
def test_what_contradicts_itself_is_refused(good: str, bad: str) -> None:
    assert good in FAILED

    assert refusal_of(parse, FAILED.replace(good, bad)).kind is RefusalKind.CONTRADICTORY


@pytest.mark.parametrize(
    ("good", "bad", "kind"),
    [
        ("Success=1", "Success=yes", RefusalKind.MALFORMED),
        ("Success=1\n", "", RefusalKind.TRUNCATED),
        ("Minimum Gflop/s", "Lowest Gflop/s", RefusalKind.TRUNCATED),
        ("Begin of HPL section", "Begin of LPH section", RefusalKind.TRUNCATED),
        ("Average Triad GB/s 28.728722", "Average Triad GB/s nan", RefusalKind.MALFORMED),
    ],
)
def test_what_lacks_a_number_is_refused(good: str, bad: str, kind: RefusalKind) -> None:
    assert good in PASSED

    assert refusal_of(parse, PASSED.replace(good, bad)).kind is kind
