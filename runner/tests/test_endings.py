"""The margin before Slurm's limit, and what a signal turns into."""

from __future__ import annotations

import pytest

from runner.contract.wire import margin_s


@pytest.mark.parametrize(
    ("time_limit_s", "expected_s"),
    [(60, 15), (120, 30), (600, 30), (3600, 180), (6000, 300), (259_200, 300)],
)
def test_the_margin_grows_with_the_limit_but_never_takes_a_quarter(
    time_limit_s: int, expected_s: int
) -> None:
    assert margin_s(time_limit_s) == expected_s
