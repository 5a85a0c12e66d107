import math

import pytest

from bench.table import Line, NotMeasured, Target, at_least, at_most, render


@pytest.mark.parametrize(
    ("target", "value", "verdict"),
    [
        (at_most(1.5, 1.2), 1.2, "met, stretch too"),
        (at_most(1.5, 1.2), 1.5, "met"),
        (at_most(1.5, 1.2), 1.8, "MISSED by 20%"),
        (at_most(25, 10, "ms"), 24.9, "met"),
        (at_least(0.6, 0.8), 0.81, "met, stretch too"),
        (at_least(0.6, 0.8), 0.6, "met"),
        (at_least(0.6, 0.8), 0.3, "MISSED by 50%"),
    ],
)
def test_a_verdict_says_how_far_a_target_was_missed(
    target: Target, value: float, verdict: str
) -> None:
    assert target.verdict(value) == verdict


@pytest.mark.parametrize("target", [at_most(1.5, 1.2), at_least(0.6, 0.8)])
def test_a_value_that_is_no_number_meets_nothing(target: Target) -> None:
    assert target.verdict(math.nan).startswith("MISSED")


def test_the_table_shows_absolute_figures_beside_ratio_target_and_verdict() -> None:
    line = Line("P1", "submit", "5.0 s", "4.0 s", 1.25, 1.25, at_most(1.5, 1.2), ("a loop",))

    table = render([line])

    head, _, row, _, note = table.splitlines()
    assert [cell.strip() for cell in head.split("|")[1:-1]] == [
        "id", "what", "product", "reference", "ratio", "target", "verdict",
    ]  # fmt: skip
    assert [cell.strip() for cell in row.split("|")[1:-1]] == [
        "P1", "submit", "5.0 s", "4.0 s", "1.25", "≤ 1.5 (1.2)", "met",
    ]  # fmt: skip
    assert note == "* P1: a loop"


def test_what_could_not_be_measured_stays_in_the_table_and_says_why() -> None:
    table = render([NotMeasured("P2", "end to end", "no cluster")])

    assert "NOT MEASURED: no cluster" in table
