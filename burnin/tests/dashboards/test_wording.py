"""Figures, times, bars and plots as people read them."""

from datetime import UTC, datetime, timedelta

import pytest

from burnin.dashboards import wording
from burnin.dashboards.bars import NARROWEST, segments, sentence
from burnin.dashboards.looks import BAR_ORDER, look_of
from burnin.dashboards.templatetags.dashboards import coded, means
from burnin.dashboards.templatetags.runs import param
from burnin.dashboards.trend_plot import BOTTOM, TOP, trend_plot
from burnin.hardware_tests.metrics import MetricUnit
from burnin.selectors.job_counts import SHOWN
from burnin.selectors.node import Point, Trend
from burnin.selectors.nodes import Place

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    "value, text",
    [
        (0, "0"),
        (8128, "8,128"),
        (366.83, "366.8"),
        (6.583, "6.58"),
        (0.01234, "0.0123"),
        (4088.4, "4,088"),
        (-19.44, "−19.4"),
        (-0.0, "0"),
        (1e-12, "0.000000000001"),
        (float("nan"), "nan"),
        (None, "–"),
    ],
)
def test_a_figure_has_as_many_digits_as_tell_something(value: float | None, text: str) -> None:
    assert wording.number(value) == text


def test_a_unit_stands_behind_a_space_but_a_factors_x_does_not() -> None:
    assert wording.quantity(366.83, "GB/s") == "366.8 GB/s"
    assert wording.quantity(1.5, "x") == "1.50×"
    assert wording.quantity(3, "") == "3"


@pytest.mark.parametrize(
    "seconds, text",
    [
        (0, "0 s"),
        (59.9, "59 s"),
        (60, "1 min"),
        (3600, "1 h"),
        (5700, "1 h 35 min"),
        (36_000, "10 h"),
        (172_800, "2 d"),
        (-1, "–"),
        (None, "–"),
        (float("nan"), "–"),
        (float("inf"), "–"),
    ],
)
def test_a_duration_has_at_most_two_units(seconds: float | None, text: str) -> None:
    assert wording.duration(seconds) == text


def test_a_clock_that_is_ahead_was_just_now() -> None:
    assert wording.age(NOW + timedelta(minutes=3), NOW) == "0 s"


def test_a_moment_leaves_out_what_goes_without_saying() -> None:
    assert wording.moment(NOW - timedelta(hours=2), NOW) == "10:00"
    assert wording.moment(NOW - timedelta(days=2), NOW) == "27 Nov 12:00"
    assert wording.moment(NOW - timedelta(days=400), NOW) == "25 Oct 2025"


@pytest.mark.parametrize("size, text", [(0, "0 B"), (1500, "1.50 kB"), (2.5e9, "2.50 GB")])
def test_a_size_is_in_powers_of_a_thousand(size: float, text: str) -> None:
    assert wording.size(size) == text


def test_one_of_ten_thousand_can_be_seen_and_the_bar_stays_whole() -> None:
    parts = segments({"passed": 9_999, "failed": 1, "errored": 0})

    assert [each.look.kind for each in parts] == ["passed", "failed"]
    assert parts[1].width == pytest.approx(NARROWEST)
    assert sum(each.width for each in parts) == pytest.approx(100)
    assert parts[1].x == pytest.approx(parts[0].width)


def test_a_bar_of_nothing_has_no_parts_and_says_so() -> None:
    assert segments({"passed": 0}) == []
    assert sentence({"passed": 0}) == "nothing yet"
    assert sentence({"failed": 1_234, "passed": 2}) == "2 passed, 1,234 failed"


def test_what_is_for_a_shell_stands_as_code_and_nothing_else_is_markup() -> None:
    assert coded("run `site_check <b>`, then `x`") == (
        "run <code>site_check &lt;b&gt;</code>, then <code>x</code>"
    )
    assert coded("one ` alone, and <i>") == "one ` alone, and &lt;i&gt;"


@pytest.mark.parametrize("state", [*Place.values, *SHOWN])
def test_each_word_of_a_count_is_explained(state: str) -> None:
    assert means(state)


@pytest.mark.parametrize(
    ("value", "text"),
    [(["n1", "n2"], "n1, n2"), ([], "none"), (True, "yes"), (None, "not given"), (0.5, "0.5")],
)
def test_a_param_reads_as_it_was_given(value: object, text: str) -> None:
    assert param(value) == text


def test_a_state_that_nobody_knows_is_never_green() -> None:
    assert look_of("brand-new").kind == "untested"
    assert look_of("").kind == "untested"
    assert "passed" in BAR_ORDER


def test_a_nodes_memory_is_said_in_the_unit_of_the_tests_that_measure_it() -> None:
    assert wording.memory(257_024) == f"251 {MetricUnit.GIB}"


def _trend(*values: float, limit: float | None = None, better: str = "higher") -> Trend:
    points = [Point(NOW + timedelta(days=day), v, "passed", None) for day, v in enumerate(values)]
    return Trend("slug", "metric", "Metric", "GB/s", points, limit, better)


def test_a_trend_keeps_every_dot_inside_and_the_higher_value_higher() -> None:
    plot = trend_plot(_trend(478, 366.8, 480, limit=455))

    assert all(TOP <= dot.y <= BOTTOM for dot in plot.dots)
    assert plot.dots[2].y < plot.dots[0].y < plot.dots[1].y
    assert len(plot.lines) == 2


def test_the_zone_of_a_trend_is_on_the_good_side_of_its_bound() -> None:
    above, below = (
        trend_plot(_trend(1, 3, limit=2, better=better)).zone for better in ("higher", "lower")
    )

    assert above is not None and below is not None
    assert (above.y, above.sign) == (0, "≥")
    assert (below.y, below.sign) == (below.bound_y, "≤")


@pytest.mark.parametrize("values", [(5.0,), (5.0, 5.0), (0.0,)])
def test_values_that_are_all_alike_still_make_a_plot(values: tuple[float, ...]) -> None:
    plot = trend_plot(_trend(*values))

    assert plot.zone is None
    assert len(plot.dots) == len(values)
