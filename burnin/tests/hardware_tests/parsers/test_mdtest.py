from __future__ import annotations

import pytest

from burnin.hardware_tests.parsers import mdtest
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind
from burnin.tests.hardware_tests.parsers.shipped import refusal_of, shipped

TEXT = shipped("mdtest", "mdtest_3_iter.txt")


def test_every_kind_of_operation_has_its_rates() -> None:
    report = mdtest.parse(TEXT)

    assert (report.tasks, report.nodes, report.iterations) == (2, 1, 3)
    assert len(report.rates) == 10
    assert report.of("File creation").min_per_s == 21670.670


def test_an_operation_that_was_not_done_is_told() -> None:
    files_only = mdtest.parse(shipped("mdtest", "mdtest_files_3901B.txt"))

    with pytest.raises(ParseError, match="mdtest did no directory creation"):
        files_only.of("Directory creation")


def test_a_report_that_is_not_finished_is_cut() -> None:
    cut = TEXT[: TEXT.index("-- finished")]

    assert refusal_of(mdtest.parse, cut).kind is RefusalKind.TRUNCATED


def test_two_runs_in_one_output_are_refused() -> None:
    assert refusal_of(mdtest.parse, TEXT + TEXT).kind is RefusalKind.CONTRADICTORY


def test_a_mean_outside_of_its_extremes_is_refused() -> None:
    refused = refusal_of(mdtest.parse, TEXT.replace("25934.041", "95934.041"))

    assert refused.kind is RefusalKind.CONTRADICTORY and "File creation" in refused.reason


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("ERROR: unable to create file /x: No space left on device, (mdtest.c:318)", "io_error"),
        ("ERROR: only specify one of -I and -n, (mdtest.c:99)", "usage"),
    ],
)
def test_an_error_is_refused_in_mdtests_words(line: str, kind: str) -> None:
    refused = refusal_of(mdtest.parse, TEXT + line + "\n")

    assert refused.kind == kind and refused.reason == line
