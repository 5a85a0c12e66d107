from __future__ import annotations

import pytest

from burnin.hardware_tests.parsers.hpcg import parse
from burnin.hardware_tests.parsers.refusal import RefusalKind
from burnin.tests.hardware_tests.parsers.shipped import refusal_of, shipped

VALID = shipped("hpcg", "hpcg_3.1_valid_short.txt")
RATING = "Final Summary::HPCG result is VALID with a GFLOP/s rating of=0.412651"


def test_a_short_run_is_valid_and_not_official() -> None:
    report = parse(VALID)

    assert (report.version, report.is_valid, report.gflops) == ("3.1", True, 0.412651)
    assert not report.is_official


def test_half_an_hour_makes_it_official() -> None:
    assert parse(VALID.replace("Summary::Total=3.30536", "Summary::Total=1800.5")).is_official


@pytest.mark.parametrize(
    "verdict",
    [
        "Final Summary::HPCG result is=INVALID.",
        "Final Summary::HPCG result is INVALID because SYMGS and SPMV were fused=1.5",
    ],
)
def test_an_invalid_result_has_no_rating(verdict: str) -> None:
    report = parse(
        VALID.replace(RATING, verdict).replace("Tests::Result=PASSED", "Tests::Result=FAILED")
    )

    assert (report.is_valid, report.gflops) == (False, None)
    assert report.failed_checks == ("Spectral Convergence Tests",)


def test_words_before_the_report_are_passed_over() -> None:
    assert parse("mpirun: binding to core\n" + VALID) == parse(VALID)


def test_the_final_line_of_an_nvidia_container_is_a_rating_without_verdict() -> None:
    text = (
        "total =  1280.3 GF ( 9708.9 GB/s Effective)  160.0 GF_per\n"
        "final =  1230.9 GF ( 9334.5 GB/s Effective)  153.9 GF_per\n"
    )

    report = parse(text)

    assert (report.is_valid, report.gflops, report.is_official) == (None, 1230.9, False)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (VALID + VALID, RefusalKind.CONTRADICTORY),
        (VALID + "Final Summary::HPCG result is=INVALID.\n", RefusalKind.CONTRADICTORY),
        (VALID.replace("Tests::Result=PASSED", "Tests::Result=FAILED"), RefusalKind.CONTRADICTORY),
        (VALID.replace("of=0.412651", "of=nan"), RefusalKind.MALFORMED),
        (VALID.partition(RATING)[0] + RATING, RefusalKind.TRUNCATED),
        (VALID.partition(RATING)[0], RefusalKind.TRUNCATED),
        ("final =  1 GF\nfinal =  2 GF\n", RefusalKind.CONTRADICTORY),
        ("hello\n", RefusalKind.MALFORMED),
    ],
)  # fmt: skip
def test_what_is_no_whole_consistent_report_is_refused(text: str, kind: RefusalKind) -> None:
    assert refusal_of(parse, text).kind is kind


YAML = shipped("hpcg", "rochpcg_8x_mi300x_valid.yaml")


def test_the_yaml_of_amds_build_tells_what_version_3_1_does() -> None:
    report = parse(YAML)

    assert (report.version, report.processes, report.is_valid) == ("3.0", 8, True)
    assert (report.gflops, report.failed_checks) == (1046.27, ())


def test_an_invalid_yaml_names_its_failed_checks() -> None:
    failed = YAML.replace("epsilon: \n  Result: PASSED", "epsilon: \n  Result: FAILED")
    text = failed.replace("is VALID with a GFLOP/s rating of: 1046.27", "is: INVALID.")

    report = parse(text)

    assert (report.is_valid, report.gflops, len(report.failed_checks)) == (False, None, 1)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (YAML + YAML, RefusalKind.CONTRADICTORY),
        (YAML.replace("Result: PASSED", "Result: FAILED", 1), RefusalKind.CONTRADICTORY),
        (YAML[: YAML.index("Final Summary")], RefusalKind.TRUNCATED),
        (YAML.replace("rating of: 1046.27", "rating of: inf"), RefusalKind.MALFORMED),
    ],
)
def test_a_yaml_that_says_nothing_certain_is_refused(text: str, kind: RefusalKind) -> None:
    assert refusal_of(parse, text).kind is kind
