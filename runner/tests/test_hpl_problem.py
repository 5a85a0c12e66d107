from __future__ import annotations

import math

import pytest

from runner.hpl_problem import even_step, grid, hpl_dat, largest_problem


@pytest.mark.parametrize(
    ("ranks", "expected"),
    [(1, (1, 1)), (2, (1, 2)), (8, (2, 4)), (31, (1, 31)), (96, (8, 12)), (128, (8, 16))],
)
def test_a_grid_is_as_square_as_it_can_be(ranks: int, expected: tuple[int, int]) -> None:
    assert grid(ranks) == expected


def test_the_matrix_fits_and_one_more_block_would_not() -> None:
    problem = largest_problem(10**10, 4, nb=192)

    assert problem.n % 192 == 0
    assert 8 * problem.n**2 <= 10**10 < 8 * (problem.n + 192) ** 2


def test_much_memory_is_not_all_used_if_that_would_take_hours() -> None:
    problem = largest_problem(2**41, 128, nb=192, flop_each=1e13)

    assert problem.flop <= 128e13 < 2 / 3 * (problem.n + 192) ** 3
    assert 100_000 < problem.n < 130_000


def test_no_memory_is_no_problem() -> None:
    assert largest_problem(8 * 191**2, 1, nb=192).n == 0
    assert math.isclose(largest_problem(8 * 192**2, 1, nb=192).flop, 2 / 3 * 192**3)


def test_the_file_has_each_number_on_the_line_where_hpl_reads_it() -> None:
    lines = hpl_dat(largest_problem(10**9, 8, nb=192)).splitlines()

    assert [int(lines[at - 1].split()[0]) for at in (6, 8, 11, 12)] == [11136, 192, 2, 4]
    assert lines[12].startswith("16.0 ") and len(lines) == 36


@pytest.mark.parametrize(("ranks", "step"), [(1, 2560), (4, 5120), (8, 10240)])
def test_an_even_size_gives_every_rank_as_many_blocks(ranks: int, step: int) -> None:
    assert even_step(2560, ranks) == step

    problem = largest_problem(10**12, ranks, nb=2560, bytes_each=4, step=step)

    assert problem.n % step == 0
    assert 4 * problem.n**2 <= 10**12 < 4 * (problem.n + step) ** 2
