"""A log of any length is shown by its ends, or round a line, with the same numbers each time."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from burnin.selectors import log_window
from burnin.selectors.log_window import LogWindow, new_lines, window
from burnin.workflow.logs import LogPiece


@dataclass(frozen=True)
class Written:
    """A log in memory."""

    content: bytes
    is_final: bool = True

    def read(self, offset: int, limit: int) -> LogPiece:
        piece = self.content[offset : offset + limit]
        return LogPiece(piece, offset + len(piece), len(self.content), self.is_final)


def lines(first: int, last: int) -> bytes:
    return b"".join(b"line %d\n" % number for number in range(first, last + 1))


def spans(shown: LogWindow) -> list[tuple[int, int]]:
    return [(part.first, part.last) for part in shown.parts]


def test_a_short_log_is_shown_whole() -> None:
    shown = window(Written(lines(1, 1000)))

    assert spans(shown) == [(1, 1000)]
    assert shown.is_whole
    assert shown.parts[0].lines[119].text == "line 120"


def test_of_a_long_log_the_ends_are_shown() -> None:
    shown = window(Written(lines(1, 100_000)))

    assert spans(shown) == [(1, 500), (99_501, 100_000)]
    assert not shown.is_whole
    assert shown.parts[1].lines[-1].text == "line 100000"


def test_the_lines_round_a_wanted_one_are_shown_too() -> None:
    shown = window(Written(lines(1, 100_000)), around=5000)

    assert spans(shown) == [(1, 500), (4750, 5250), (99_501, 100_000)]


@pytest.mark.parametrize("around", [1, 400, 700, 99_900, 100_000, 10**9])
def test_a_line_near_an_end_is_shown_once(around: int) -> None:
    shown = window(Written(lines(1, 100_000)), around=around)

    numbers = [line.number for part in shown.parts for line in part.lines]
    assert numbers == sorted(set(numbers))
    assert around in numbers or around > 100_000


def test_a_line_that_is_still_being_written_is_not_shown() -> None:
    shown = window(Written(b"one\ntw", is_final=False))

    assert (spans(shown), shown.next_offset) == ([(1, 1)], 4)


def test_the_last_line_of_a_final_log_needs_no_end() -> None:
    shown = window(Written(b"one\ntwo"))

    assert (shown.line_count, shown.next_offset, shown.total) == (2, 7, 7)


def test_new_lines_go_on_with_the_numbers() -> None:
    before = window(Written(b"one\ntw", is_final=False))

    after = new_lines(
        Written(b"one\ntwo\nthree\nfo", is_final=False),
        offset=before.next_offset,
        after_line=before.line_count,
    )

    assert [(line.number, line.text) for line in after.parts[0].lines] == [(2, "two"), (3, "three")]
    assert after.next_offset == 14


def test_nothing_new_has_no_part() -> None:
    shown = new_lines(Written(b"one\ntw", is_final=False), offset=4, after_line=1)

    assert (shown.parts, shown.next_offset, shown.line_count) == ((), 4, 1)


@pytest.mark.parametrize("piece", [1, 3, 7, 64])
def test_lines_do_not_depend_on_how_they_were_read(
    piece: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = b"a\n\nbcd\n" + b"x" * 40 + b"\nend"
    monkeypatch.setattr(log_window, "PIECE_BYTES", 64)
    whole = window(Written(text))
    monkeypatch.setattr(Written, "read", _in_bites(piece))

    assert window(Written(text)) == whole


def test_a_line_that_nobody_can_show_is_cut_at_the_same_bytes_live_and_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(log_window, "PIECE_BYTES", 8)
    whole = window(Written(b"0123456789abcdefXY\nlast\n"))

    live, offset, count = [], 0, 0
    while True:
        shown = new_lines(Written(b"0123456789abcdefXY\nlast\n"), offset=offset, after_line=count)
        live += [line for part in shown.parts for line in part.lines]
        if shown.next_offset == offset:
            break
        offset, count = shown.next_offset, shown.line_count

    assert live == [line for part in whole.parts for line in part.lines]
    assert [line.text for line in live] == ["01234567", "89abcdef", "XY", "last"]


def test_what_is_no_text_is_shown_as_far_as_it_is() -> None:
    shown = window(Written(b"\xff\xfe ok\r\n 10 %\r 20 %\r100 %\n" + b"y" * 5000 + b"\n"))

    first, second, third = (line.text for line in shown.parts[0].lines)
    assert (first, second) == ("\ufffd\ufffd ok", "100 %")
    assert (len(third), third[-1]) == (2000, "…")


def _in_bites(piece: int):  # type: ignore[no-untyped-def]
    def read(self: Written, offset: int, limit: int) -> LogPiece:
        content = self.content[offset : offset + min(limit, piece)]
        return LogPiece(content, offset + len(content), len(self.content), self.is_final)

    return read
