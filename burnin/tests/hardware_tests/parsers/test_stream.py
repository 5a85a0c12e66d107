from __future__ import annotations

import pytest

from burnin.hardware_tests.parsers.refusal import RefusalKind
from burnin.hardware_tests.parsers.stream import parse
from burnin.tests.hardware_tests.parsers.shipped import refusal_of, shipped

GOOD = shipped("stream", "stream_ok.txt")
VALIDATES = "Solution Validates: avg error less than 1.000000e-13 on all three arrays"
FAILS = (
    "Failed Validation on array a[], AvgRelAbsErr > epsilon (1.000000e-13)\n"
    "     Expected Value: 1.153301e+12, AvgAbsErr: 1.1e+00, AvgRelAbsErr: 9.9e-01\n"
    "     For array a[], 10 errors were found.\n"
    "Failed Validation on array c[], AvgRelAbsErr > epsilon (1.000000e-13)"
)


def test_a_good_run_is_read_whole() -> None:
    report = parse(GOOD)

    assert (report.version, report.threads, report.array_bytes) == ("5.10", 2, 80_000_000)
    assert (report.triad.best_mb_per_s, report.triad.shortest_s) == (12689.8, 0.018913)
    assert report.validates and not report.is_too_short


def test_wrong_values_are_told_by_array() -> None:
    report = parse(GOOD.replace(VALIDATES, FAILS))

    assert (report.validates, report.wrong_arrays) == (False, ("a", "c"))


def test_arrays_that_a_cache_holds_are_too_short() -> None:
    assert parse(shipped("stream", "stream_array_too_small.txt")).is_too_short


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (GOOD.partition(VALIDATES)[0], RefusalKind.TRUNCATED),
        (GOOD.replace(VALIDATES, f"{VALIDATES}\n{FAILS}"), RefusalKind.CONTRADICTORY),
        (GOOD + GOOD, RefusalKind.CONTRADICTORY),
        (GOOD.replace("Triad: ", "Truad: "), RefusalKind.TRUNCATED),
        (GOOD.replace("Scale: ", "Copy: "), RefusalKind.CONTRADICTORY),
        (GOOD.replace("12689.8", "inf"), RefusalKind.MALFORMED),
        (GOOD.replace("Array size", "Size"), RefusalKind.MALFORMED),
        ("----------\n", RefusalKind.TRUNCATED),
        ("hello\n", RefusalKind.MALFORMED),
    ],
)
def test_what_is_no_whole_consistent_report_is_refused(text: str, kind: RefusalKind) -> None:
    assert refusal_of(parse, text).kind is kind
