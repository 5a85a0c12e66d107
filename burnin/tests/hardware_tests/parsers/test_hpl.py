from __future__ import annotations

import math

import pytest

from burnin.hardware_tests.parsers.hpl import parse
from burnin.hardware_tests.parsers.refusal import RefusalKind
from burnin.tests.hardware_tests.parsers.shipped import refusal_of, shipped

TWO_SIZES = shipped("hpl", "netlib_two_sizes_passed.txt")
NAN = shipped("hpl", "nvidia_residual_nan_failed.txt")

ROW = "WC02R2C4       45312   384     2     2              31.04              1.9984e+06\n"
CHECK = "||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=        0.0000069 ...... PASSED\n"


def summary(tests: int = 1, passed: int = 1, failed: int = 0, skipped: int = 0) -> str:
    return (
        f"Finished {tests:6} tests with the following results:\n"
        f"         {passed:6} tests completed and passed residual checks,\n"
        f"         {failed:6} tests completed and failed residual checks,\n"
        f"         {skipped:6} tests skipped because of illegal input values.\n"
        "End of Tests.\n"
    )


MXP = """\
HPL-MxP-NVIDIA
****** HPL MxP Result    ******
   EPS           . . . . . . . . . . . . . . . . .          =    2.000000E-16
 ||Ax-b||_oo     . . . . . . . . . . . . . . . . .          =    8.737455E-14
 ||Ax-b||_oo / (EPS * (||A||_oo * ||x||_oo + ||b||_oo) * N) =    5.599413E-04 ...... PASSED
   N = 258048, NB = 1024, NPROW = 4, NPCOL = 2, SLOPPY-TYPE = 2
      GFLOPS = 4.3468e+05, per GPU =   54335.58 ------ The HPL-MxP performance to report
   LU GFLOPS = 2.4940e+06, per GPU =  311748.98 ------ The performance without the solver
****** HPL MxP Result    ******
"""


def test_every_result_is_there_and_the_fastest_that_passed_is_the_best() -> None:
    report = parse(TWO_SIZES)

    assert report.all_passed and report.best and report.best.gflops == 6.138
    assert [result.n for result in report.results] == [1000, 2000]


def test_progress_of_an_amd_run_is_no_result() -> None:
    progress = "Column= 1536 Fraction= 3.4% Gflops= 9.9e+06\n"

    report = parse(progress + ROW + CHECK + summary())

    assert [result.gflops for result in report.results] == [1.9984e6]


def test_a_residual_that_is_no_number_is_a_failed_one() -> None:
    report = parse(NAN)

    assert math.isnan(report.results[0].residuals[0].value)
    assert not report.all_passed and report.best is None


def test_a_residual_that_is_no_number_and_passed_is_contradictory() -> None:
    assert refusal_of(parse, NAN.replace("FAILED", "PASSED")).kind is RefusalKind.CONTRADICTORY


def test_each_of_three_residuals_must_pass() -> None:
    failed = CHECK.replace("PASSED", "FAILED")

    report = parse(ROW + CHECK + failed + CHECK + summary(passed=0, failed=1))

    assert report.results[0].passed is False and len(report.results[0].residuals) == 3


def test_a_run_without_residual_check_is_neither_passed_nor_failed() -> None:
    counts = (
        "Finished      1 tests with the following results:\n"
        "              1 tests completed without checking,\n"
        "              0 tests skipped because of illegal input values.\nEnd of Tests.\n"
    )

    report = parse(ROW + counts)

    assert (report.unchecked, report.results[0].passed, report.all_passed) == (1, None, False)


def test_a_skipped_test_is_not_a_pass() -> None:
    report = parse(ROW + CHECK + summary(tests=2, skipped=1))

    assert report.skipped == 1 and not report.all_passed


def test_a_throttled_gpu_is_told() -> None:
    warning = "!!!! WARNING: Rank: 1 : gpu001 : GPU 0000:18:00.0 Clock: 626 MHz Temp: 48 C\n"

    assert "Clock: 626 MHz" in parse(warning * 2 + ROW + CHECK + summary()).warnings[0]


def test_the_score_of_mxp_is_not_that_of_its_factorization() -> None:
    report = parse(MXP)

    result = report.results[0]
    assert (report.variant, report.all_passed) == ("hpl-mxp", True)
    assert (result.gflops, result.gflops_per_gpu, result.lu_gflops) == (434680, 54335.58, 2494000)
    assert (result.n, result.nb, result.p, result.q) == (258048, 1024, 4, 2)


def test_a_failed_residual_of_mxp_is_a_failed_run() -> None:
    assert parse(MXP.replace("PASSED", "FAILED")).failed == 1


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (ROW + CHECK, RefusalKind.TRUNCATED),
        (ROW + CHECK + summary().replace("End of Tests.", ""), RefusalKind.TRUNCATED),
        (ROW.replace("1.9984e+06", "") + summary(), RefusalKind.TRUNCATED),
        (ROW + CHECK + summary() + summary(), RefusalKind.CONTRADICTORY),
        (ROW + CHECK + summary(passed=2), RefusalKind.CONTRADICTORY),
        (ROW + CHECK + summary(tests=2), RefusalKind.CONTRADICTORY),
        (ROW + CHECK + summary(passed=0, failed=1), RefusalKind.CONTRADICTORY),
        (ROW.replace("1.9984e+06", "inf") + CHECK + summary(), RefusalKind.MALFORMED),
        (MXP.rpartition("******")[0].rpartition("******")[0], RefusalKind.TRUNCATED),
        (MXP + MXP, RefusalKind.CONTRADICTORY),
        ("\n".join(line for line in MXP.splitlines() if "Ax-b" not in line), RefusalKind.TRUNCATED),
        (" Prog= 97.19%\tN_left= 21888\tGF=  2351.79\n", RefusalKind.TRUNCATED),
        ("hello\n", RefusalKind.MALFORMED),
    ],
)
def test_what_is_no_whole_consistent_run_is_refused(text: str, kind: RefusalKind) -> None:
    assert refusal_of(parse, text).kind is kind


def test_a_cut_run_tells_what_was_complete() -> None:
    refusal = refusal_of(parse, ROW + CHECK + ROW)

    assert refusal.facts == {"complete_results": 1}
    assert "N=45312" in refusal.reason


ROCHPL_MXP = shipped("hpl", "rochpl_mxp_8x_mi300x_passed.txt")


def test_amds_hpl_mxp_prints_one_speed() -> None:
    report = parse(ROCHPL_MXP)

    (result,) = report.results
    assert (report.variant, report.passed) == ("hpl-mxp", 1)
    assert (result.n, result.nb, result.p, result.q) == (573440, 2560, 4, 2)
    assert (result.lu_gflops, result.gflops_per_gpu) == (None, None)


def test_amds_hpl_mxp_fails_by_its_residual() -> None:
    report = parse(
        ROCHPL_MXP.replace("0.0000143 ...... PASSED", "nan ...... FAILED")
        .replace("1 tests completed and passed", "0 tests completed and passed")
        .replace("0 tests completed and failed", "1 tests completed and failed")
    )

    assert (report.failed, report.results[0].passed) == (1, False)


def test_amds_hpl_mxp_that_is_cut_is_refused() -> None:
    cut = ROCHPL_MXP[: ROCHPL_MXP.index("End of Tests.")]

    assert refusal_of(parse, cut).kind is RefusalKind.TRUNCATED
