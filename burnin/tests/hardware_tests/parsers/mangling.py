"""What may have happened to a tool's output on its way to us."""

from __future__ import annotations

from hypothesis import strategies as st

# What has broken parsers before: numbers that are none or too large, depth, other alphabets.
NASTY = (
    *("NaN", "-nan", "inf", "-Infinity", "1e999", "-1", "0", "9" * 5000, "1" + "0" * 400, "1_000"),
    *(
        "",
        "\n",
        "\n\n",
        "\0",
        "\r",
        "\x1b[0m",
        "\N{ARABIC-INDIC DIGIT SEVEN}",
        "\N{SUPERSCRIPT TWO}",
    ),
    *(
        "{",
        "}",
        "[" * 3000,
        '{"a":' * 3000,
        '"',
        ",",
        "|",
        "null",
        "true",
        "<!ENTITY a 'b'>",
        "]]>",
    ),
    *("[N/A]", "N/A", "[Unknown Error]", "0x", "n[1-99999999]", "n[", "[1-", "(null)", "=", ":"),
)


def cut(text: str) -> st.SearchStrategy[str]:
    """Stop the text early: anywhere, or at the end of a line, where it is hardest to see."""
    ends = [at + 1 for at, character in enumerate(text[:-1]) if character == "\n"] or [0]
    anywhere = st.integers(0, max(len(text) - 1, 0))
    return (anywhere | st.sampled_from(ends)).map(lambda length: text[:length])


def damaged(text: str) -> st.SearchStrategy[str]:
    """Put something nasty in the place of a part of the text."""
    spots = st.tuples(st.integers(0, len(text)), st.integers(0, 200), st.sampled_from(NASTY))
    return spots.map(lambda spot: text[: spot[0]] + spot[2] + text[spot[0] + spot[1] :])


def with_numbers_replaced(text: str) -> st.SearchStrategy[str]:
    """Replace one number: what is left looks like a report in every other respect."""
    numbers = [at for at, character in enumerate(text) if character.isdigit()] or [0]

    def replaced(spot: tuple[int, str]) -> str:
        at, nasty = spot
        end = at + len(text[at:]) - len(text[at:].lstrip("0123456789."))
        return text[:at] + nasty + text[end:]

    return st.tuples(st.sampled_from(numbers), st.sampled_from(NASTY)).map(replaced)


GARBAGE = st.text() | st.binary().map(lambda raw: raw.decode(errors="replace"))
