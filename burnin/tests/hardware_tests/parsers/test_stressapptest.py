from __future__ import annotations

import re

import pytest

from burnin.hardware_tests.parsers import stressapptest
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind
from burnin.tests.hardware_tests.parsers.corpus.recordings import SHIPPED

PASSED = (SHIPPED / "stressapptest" / "pass_6s.txt").read_text()
FAULTY = (SHIPPED / "stressapptest" / "force_errors.txt").read_text()
MISHAP = (SHIPPED / "stressapptest" / "more_memory_than_there_is.txt").read_text()


def refusal_of(text: str) -> ParseError:
    with pytest.raises(ParseError) as refused:
        stressapptest.parse(text)
    return refused.value


def test_sizes_and_speeds_are_in_bytes() -> None:
    report = stressapptest.parse(PASSED)

    assert report.tested_bytes == 128 * 1024**2
    assert report.copy_bytes_per_s == pytest.approx(11082.70 * 1024**2)


def test_the_fault_report_names_cpu_and_dimm() -> None:
    report = stressapptest.parse(FAULTY)

    assert report.hardware_incidents == 1 and not report.passed
    assert report.fault_lines[0] == "Report Error: miscompare : DIMM Unknown : 1 : 0s"
    assert report.fault_lines[1].startswith("Hardware Error: miscompare on CPU 0(0x1)")


def test_a_procedural_error_is_refused_with_what_the_tool_says() -> None:
    refused = refusal_of(MISHAP)

    assert refused.kind is RefusalKind.TOOL_ERROR
    assert refused.reason == (
        "stressapptest: test encountered procedural errors (Process Error: memalign returned 0)"
    )


def test_a_procedural_error_after_hardware_errors_says_both() -> None:
    both = FAULTY.replace("test discovered HW problems", "test encountered procedural errors")

    assert "after 1 hardware errors" in refusal_of(both).reason


@pytest.mark.parametrize("text", [PASSED, FAULTY], ids=["passed", "faulty"])
def test_a_log_cut_before_its_status_line_is_refused(text: str) -> None:
    status = text.index("Status:")

    for length in range(120, status, 97):
        assert refusal_of(text[:length]).kind is RefusalKind.TRUNCATED


@pytest.mark.parametrize("line", ["Stats: Starting", "Stats: Completed", "Stats: Memory Copy"])
def test_a_log_that_lacks_a_line_is_refused_and_names_it(line: str) -> None:
    kept = "\n".join(each for each in PASSED.splitlines() if not each.startswith(line))

    assert line.removeprefix("Stats: ") in refusal_of(kept).reason


def test_pass_with_incidents_is_contradictory() -> None:
    refused = refusal_of(PASSED.replace("with 0 hardware", "with 2 hardware"))

    assert refused.kind is RefusalKind.CONTRADICTORY
    assert refused.reason == "stressapptest says PASS and counts 2 hardware incidents"


def test_fail_without_incidents_is_contradictory() -> None:
    refused = refusal_of(FAULTY.replace("with 1 hardware", "with 0 hardware"))

    assert refused.kind is RefusalKind.CONTRADICTORY


def test_pass_with_a_hardware_error_line_is_contradictory() -> None:
    refused = refusal_of(PASSED.replace("Stats: Found", "Hardware Error: miscompare\nStats: Found"))

    assert refused.kind is RefusalKind.CONTRADICTORY


def test_two_logs_in_one_are_refused() -> None:
    assert refusal_of(PASSED + PASSED).kind is RefusalKind.CONTRADICTORY


def test_an_unknown_status_is_an_error_not_a_fault() -> None:
    refused = refusal_of(FAULTY.replace("test discovered HW problems", "the moon is full"))

    assert refused.kind is RefusalKind.TOOL_ERROR


def test_a_status_without_a_log_is_refused() -> None:
    assert refusal_of("Status: PASS - please verify no corrected errors\n")


def test_an_interrupted_run_shows_it() -> None:
    text = (SHIPPED / "stressapptest" / "interrupted_says_pass.txt").read_text()

    report = stressapptest.parse(text)

    assert report.passed and report.stopped_early
    assert report.elapsed_s < report.requested_s


def test_a_number_with_two_points_is_refused() -> None:
    refused = refusal_of(PASSED.replace("at 11082.70MB/s", "at 1.1.1MB/s"))

    assert refused.kind is RefusalKind.MALFORMED


def test_an_empty_log_is_no_data() -> None:
    assert refusal_of("\n").kind is RefusalKind.NO_DATA


def test_another_tools_output_is_refused() -> None:
    assert refusal_of("bash: stressapptest: command not found").kind is RefusalKind.MALFORMED


def test_lines_with_a_time_before_them_are_read() -> None:
    stamped = "\n".join(f"2026/11/29-10:00:00(UTC) {line}" for line in PASSED.splitlines())

    assert stressapptest.parse(stamped) == stressapptest.parse(PASSED)


def test_a_giant_number_is_refused() -> None:
    text = re.sub(r"Starting SAT, \d+M", f"Starting SAT, {'9' * 400}M", PASSED)

    with pytest.raises(ParseError, match="is no number"):
        stressapptest.parse(text)
