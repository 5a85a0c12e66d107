from __future__ import annotations

import pytest

from burnin.hardware_tests.parsers import stress_ng
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind
from burnin.tests.hardware_tests.parsers.corpus.recordings import SHIPPED

PASSED = (SHIPPED / "stress-ng" / "pass_2s.txt").read_text()
FAULTY = (SHIPPED / "stress-ng" / "wrong_values.txt").read_text()
KILLED = (SHIPPED / "stress-ng" / "worker_killed.txt").read_text()


def refusal_of(text: str) -> ParseError:
    with pytest.raises(ParseError) as refused:
        stress_ng.parse(text)
    return refused.value


def test_a_clean_run_has_its_workers_and_time() -> None:
    report = stress_ng.parse(PASSED)

    assert report.passed and report.workers == 1
    assert report.stressors[0].cpu_s == pytest.approx(0.41)


def test_wrong_values_are_counted_by_worker() -> None:
    report = stress_ng.parse(FAULTY)

    assert not report.passed
    assert (len(report.fault_lines), report.failed_workers, report.workers) == (10, 2, 2)
    assert report.fault_lines[0].startswith("cpu: stats: harmonic mean")


def test_a_killed_worker_is_no_fault_of_the_cpu() -> None:
    refused = refusal_of(KILLED)

    assert refused.kind is RefusalKind.CRASH
    assert "corrupted bogo-ops counter" in refused.reason


def test_an_interrupted_run_shows_how_short_it_was() -> None:
    text = (SHIPPED / "stress-ng" / "interrupted_says_successful.txt").read_text()

    assert stress_ng.parse(text).elapsed_s == 1.19


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("successful run completed in 60.02s (1 min, 0.02 secs)", 60.02),
        ("successful run completed in 86400.50s (1 day, 0.50 secs)", 86400.50),
    ],
)
def test_a_long_run_has_its_time_in_seconds(line: str, says: float) -> None:
    text = PASSED.replace("successful run completed in 2.08s", line)

    assert stress_ng.parse(text).elapsed_s == says


def test_an_error_that_is_no_wrong_value_is_refused() -> None:
    said = "stress-ng: error: [25781] process [25782] (cpu) terminated on signal: 9 (Killed)\n"

    assert refusal_of(said + PASSED).kind is RefusalKind.TOOL_ERROR


def test_success_with_wrong_values_is_contradictory() -> None:
    assert refusal_of(FAULTY.replace("unsuccess", "success")).kind is RefusalKind.CONTRADICTORY
    assert refusal_of(PASSED.replace("success", "unsuccess")).kind is RefusalKind.CONTRADICTORY


@pytest.mark.parametrize("line", ["dispatching", "metrc", "run completed"])
def test_a_log_that_lacks_a_line_is_refused(line: str) -> None:
    kept = "\n".join(each for each in PASSED.splitlines() if line not in each)

    assert refusal_of(kept)


def test_two_runs_in_one_log_are_refused() -> None:
    assert refusal_of(PASSED + PASSED).kind is RefusalKind.CONTRADICTORY
