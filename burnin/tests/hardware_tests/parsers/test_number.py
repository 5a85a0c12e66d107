from __future__ import annotations

import pytest

from burnin.hardware_tests.parsers.number import amount, count, decimal, whole
from burnin.hardware_tests.parsers.refusal import ParseError


@pytest.mark.parametrize(
    ("word", "number"),
    [("12", 12.0), ("0.5", 0.5), (".5", 0.5), ("5.", 5.0), ("1.2e-05", 1.2e-5), ("-3", -3.0)],
)
def test_a_number_is_read(word: str, number: float) -> None:
    assert decimal(word, "here") == number


@pytest.mark.parametrize(
    "word",
    [
        "",
        "nan",
        "inf",
        "-inf",
        "1e999",
        "1_000",
        "1,5",
        "0x10",
        "\N{ARABIC-INDIC DIGIT SEVEN}",
        "1 2",
        "9" * 400,
    ],
)
def test_what_is_no_number_is_refused_with_its_place(word: str) -> None:
    with pytest.raises(ParseError, match=r"in this column: '.*' is no number"):
        decimal(word, "in this column")


@pytest.mark.parametrize("word", ["", "1.0", "1e3", "\N{SUPERSCRIPT TWO}", "9" * 5000])
def test_what_is_no_whole_number_is_refused(word: str) -> None:
    with pytest.raises(ParseError, match="is no whole number"):
        whole(word, "here")


def test_a_count_and_an_amount_are_not_negative() -> None:
    assert whole("-3", "here") == -3
    with pytest.raises(ParseError, match="here: -3 is negative"):
        count("-3", "here")
    with pytest.raises(ParseError, match=r"here: -0\.5 is negative"):
        amount("-0.5", "here")
