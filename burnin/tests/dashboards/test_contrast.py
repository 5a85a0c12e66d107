"""Every colour of tokens.css can be read, and the verdicts told apart, by everybody."""

from __future__ import annotations

from pathlib import Path

import pytest

from burnin.tests.dashboards import colours

CSS = Path(__file__).resolve().parents[3] / "static" / "tokens.css"
THEMES = {"light": 0, "dark": 1}
VERDICTS = (
    *("passed", "failed", "errored", "inconclusive"),
    *("running", "measured", "waiting", "skipped"),
)
TOLD_APART = VERDICTS[:5]  # side by side in every bar
SURFACES = ("surface", "bg", "sunken", "hover")
TINT = 0.11  # of the verdict in --surface, as app.css mixes it
TEXT, BIG_TEXT, EDGE = 4.5, 7.0, 3.0
LEAST_DISTANCE = 11.0


def _theme(theme: str, css: str) -> dict[str, str]:
    known = {name: pair[THEMES[theme]] for name, pair in colours.tokens(css).items()}
    tints = {
        f"{each}-tint": colours.mixed(known[each], known["surface"], TINT) for each in VERDICTS
    }
    return known | tints


def _pairs() -> list[tuple[str, str, float]]:
    """Return what is written on what, and the contrast that it needs."""
    plain = [(name, on, TEXT) for name in (*VERDICTS, "muted", "ink", "focus") for on in SURFACES]
    own = [(name, f"{name}-tint", TEXT) for name in VERDICTS]
    ink = [("ink", f"{name}-tint", BIG_TEXT) for name in VERDICTS]
    muted = [("muted", f"{name}-tint", TEXT) for name in VERDICTS]
    return [*plain, *own, *ink, *muted, ("line-2", "surface", EDGE), ("line-2", "bg", EDGE)]


def _misses(theme: str, css: str) -> list[str]:
    known = _theme(theme, css)
    measured = [(a, b, colours.contrast(known[a], known[b]), need) for a, b, need in _pairs()]
    return [
        f"{a} on {b}: {found:.2f}, needs {need}" for a, b, found, need in measured if found < need
    ]


@pytest.mark.parametrize("theme", THEMES)
def test_everything_can_be_read(theme: str) -> None:
    assert _misses(theme, CSS.read_text()) == []


@pytest.mark.parametrize("sight", colours.SIGHTS)
@pytest.mark.parametrize("theme", THEMES)
def test_verdicts_side_by_side_look_different(theme: str, sight: str) -> None:
    known = _theme(theme, CSS.read_text())

    assert colours.closest([known[each] for each in TOLD_APART], sight) >= LEAST_DISTANCE


@pytest.mark.parametrize("theme", THEMES)
def test_a_pale_colour_would_be_noticed(theme: str) -> None:
    css = CSS.read_text()
    errored = colours.tokens(css)["errored"]
    pale = css.replace(f"light-dark({errored[0]}, {errored[1]})", "light-dark(#e8c060, #5a4a20)")

    assert any(miss.startswith("errored on surface") for miss in _misses(theme, pale))


def test_black_on_white_is_21_to_1() -> None:
    assert colours.contrast("#000000", "#ffffff") == pytest.approx(21)
    assert colours.contrast("#767676", "#ffffff") == pytest.approx(4.54, abs=0.01)
