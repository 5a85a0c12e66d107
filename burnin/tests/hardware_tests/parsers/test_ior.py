from __future__ import annotations

import json
from typing import Any

import pytest

from burnin.hardware_tests.parsers import ior
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind
from burnin.tests.hardware_tests.parsers.shipped import refusal_of, shipped

VERIFIED = shipped("ior", "ior_data_verify_ok.txt")
TEXT = shipped("ior", "ior_text.txt")


def with_warning(words: str) -> str:
    return VERIFIED.replace("\nSummary of all tests", f"{words}\n\nSummary of all tests")


def test_wrong_data_is_a_finding_beside_the_bandwidth() -> None:
    report = ior.parse(with_warning("WARNING: Incorrect data on read (3 errors found)."))

    assert report.data_errors == 3 and report.checks_data
    assert report.of("read").max_bytes_per_s > 0
    assert report.warnings == ("Incorrect data on read (3 errors found).",)


def test_a_counter_of_errors_that_ran_over_is_not_zero() -> None:
    report = ior.parse(with_warning("WARNING: incorrect data on write (-1 errors found)."))

    assert report.data_errors is None


def test_no_errors_say_nothing_where_nothing_was_checked() -> None:
    report = ior.parse(TEXT)

    assert report.data_errors == 0 and report.checks_data is False


def test_a_row_that_is_missing_is_noticed() -> None:
    line = next(line for line in TEXT.splitlines(keepends=True) if line.startswith("read"))

    refused = refusal_of(ior.parse, TEXT.replace(line, ""))

    assert refused.reason == "IOR did 3 repetitions and shows 2 read rows"


def test_a_summary_that_is_not_its_rows_is_refused() -> None:
    refused = refusal_of(ior.parse, TEXT.replace("write        1336.87", "write        2336.87"))

    assert refused.kind is RefusalKind.CONTRADICTORY


def test_an_operation_that_was_not_done_is_told() -> None:
    with pytest.raises(ParseError, match="IOR did no read"):
        ior.parse(shipped("ior", "ior_rows.csv").replace("read", "write")).of("read")


def test_the_summary_of_an_old_version_is_read() -> None:
    old = """\
IOR-3.0.1: MPI Coordinated Test of Parallel I/O

Began: Sun Nov 29 19:44:37 2026
Command line used: ior -w -r -R -o /x
access    bw(MiB/s)  block(KiB) xfer(KiB)  open(s)    wr/rd(s)   close(s)   total(s)   iter
------    ---------  ---------- ---------  --------   --------   --------   --------   ----
write     840.77     16384      1024.00    0.000064   0.075225   0.000814   0.076121   0

Max Write: 840.77 MiB/sec (881.61 MB/sec)

Summary of all tests:
Operation   Max(MiB)   Min(MiB)  Mean(MiB)     StdDev    Mean(s) Test# #Tasks tPN reps fPP reord
write         840.77     840.77     840.77       0.00    0.07612     0      2   2    1   1     0

Finished: Sun Nov 29 19:44:38 2026
"""

    report = ior.parse(old)

    assert (report.tasks, report.repetitions, report.checks_data) == (2, 1, True)
    assert report.of("write").max_bytes_per_s == pytest.approx(840.77 * 1024**2)


def json_report(**changes: Any) -> str:
    summary = {
        "numTasks": 2, "repetitions": 1, "operation": "write",
        "bwMaxMIB": 1140.881, "bwMinMIB": 1140.881, "bwMeanMIB": 1140.881,
    }  # fmt: skip
    result = {"access": "write", "bwMiB": 1140.881, "totalTime": 0.4488, "iter": 0}
    test = {"Parameters": {"checkWrite": 0, "checkRead": 1}, "Results": [result]}
    report = {"Version": "4.1.0", "tests": [test], "summary": [summary], "Finished": "now"}
    return json.dumps({**report, **changes})


def test_json_is_read_in_the_same_units() -> None:
    report = ior.parse(json_report())

    assert report.of("write").mean_bytes_per_s == pytest.approx(1140.881 * 1024**2)
    assert report.checks_data


@pytest.mark.parametrize("field", ["summary", "tests"])
def test_json_without_results_is_refused(field: str) -> None:
    assert field in refusal_of(ior.parse, json_report(**{field: []})).reason
