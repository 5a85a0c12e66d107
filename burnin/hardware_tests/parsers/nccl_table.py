"""The result table of nccl-tests, in every form its header has had.

A row is printed in pieces, and NCCL's messages may break it into lines: a row is whole when it has
as many words as the header asks for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from burnin.hardware_tests.parsers.nccl_report import NcclRow, NcclTransfer
from burnin.hardware_tests.parsers.number import amount, count

_TIMES = ("time", "cputime")
_WRONG = ("error", "#wrong")
_INTEGER = re.compile(r"-?\d{1,12}")
_SIZE = re.compile(r"[0-9]{1,20}")
_TIMESTAMP_WORDS = 2  # a day and an hour under one header word


@dataclass(frozen=True)
class _Columns:
    left: tuple[str, ...]
    half: tuple[str, ...]
    trailing_words: int

    @property
    def right_words(self) -> int:
        return 2 * len(self.half) + self.trailing_words

    def left_words(self, words: list[str]) -> int:
        """Old all-to-all rows leave the header's redop blank."""
        has_operation = "redop" in self.left and words[3][0].isalpha()
        return 3 + has_operation + ("root" in self.left)

    def is_whole(self, words: list[str]) -> bool:
        if len(words) < 4 or not _begins_row(words):
            return False
        return len(words) == self.left_words(words) + self.right_words

    def may_grow(self, words: list[str]) -> bool:
        return len(words) < len(self.left) + self.right_words


@dataclass(frozen=True)
class NcclTable:
    """The whole rows, and how many lines began a row that never became whole."""

    rows: tuple[NcclRow, ...]
    broken_rows: int


def read_table(table: tuple[str, ...]) -> NcclTable:
    """Read the lines from the header on, which is the first of them."""
    columns = _columns(table[0]) if table else None
    if columns is None:
        return NcclTable((), 0)
    whole, broken = _whole_rows(table[1:], columns)
    return NcclTable(tuple(_row(words, columns) for words in whole), broken)


def _columns(header: str) -> _Columns | None:
    names = header.removeprefix("#").split()
    times = [index for index, name in enumerate(names) if name in _TIMES]
    if len(times) != 2:
        return None
    left, half = names[: times[0]], names[times[0] : times[1]]
    trailing = names[times[1] + len(half) :]
    if names[times[1] : times[1] + len(half)] != half or half[3] not in _WRONG:
        return None
    return _Columns(tuple(left), tuple(half), _TIMESTAMP_WORDS if trailing else 0)


def _whole_rows(lines: tuple[str, ...], columns: _Columns) -> tuple[list[list[str]], int]:
    whole: list[list[str]] = []
    broken = 0
    pending: list[str] = []
    for line in lines:
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if _begins_row(words):
            broken += bool(pending)
        elif pending:
            words = [*pending, *words]
        else:
            continue  # what others wrote between rows
        pending = []
        if columns.is_whole(words):
            whole.append(words)
        elif columns.may_grow(words):
            pending = words
        else:
            broken += 1
    return whole, broken + bool(pending)


def _begins_row(words: list[str]) -> bool:
    return all(_SIZE.fullmatch(word) for word in words[:2])


def _row(words: list[str], columns: _Columns) -> NcclRow:
    left = columns.left_words(words)
    named = words[3:left]
    width = len(columns.half)
    return NcclRow(
        size_bytes=count(words[0], "size"),
        count=count(words[1], "count"),
        type=words[2],
        operation=named[0] if named and not _INTEGER.fullmatch(named[0]) else None,
        root=int(named[-1]) if named and _INTEGER.fullmatch(named[-1]) else None,
        counts_wrong_values=columns.half[3] == "#wrong",
        out_of_place=_transfer(words[left : left + width]),
        in_place=_transfer(words[left + width : left + 2 * width]),
    )


def _transfer(words: list[str]) -> NcclTransfer:
    wrong = words[3].rstrip("*")  # rccl-tests marks what exceeds the threshold
    return NcclTransfer(
        time_us=amount(words[0], "time"),
        algorithm_bandwidth_gb_per_s=amount(words[1], "algbw"),
        bus_bandwidth_gb_per_s=amount(words[2], "busbw"),
        wrong=None if wrong == "N/A" else amount(wrong, "#wrong"),
    )
