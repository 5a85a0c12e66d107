"""A log as numbered lines: its beginning and its end, or the lines round a wanted one.

Bytes are read in pieces and only what is shown is kept, so a log of any length costs the same
memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

from burnin.models import TestRun
from burnin.storage.store import ArtifactStore
from burnin.workflow.logs import LogPiece, read_log

PIECE_BYTES = 1 << 20
EDGE_LINES = 500  # of the first and the last part
LONGEST_LINE = 2000  # characters that are shown of one line


@dataclass(frozen=True)
class Line:
    number: int
    text: str


@dataclass(frozen=True)
class Part:
    """Lines without a gap between them."""

    lines: tuple[Line, ...]

    @property
    def first(self) -> int:
        return self.lines[0].number

    @property
    def last(self) -> int:
        return self.lines[-1].number


@dataclass(frozen=True)
class LogWindow:
    """What is shown of a log. A line that is not whole yet, at `next_offset`, is not."""

    parts: tuple[Part, ...]
    line_count: int
    next_offset: int
    total: int
    is_final: bool

    @property
    def is_whole(self) -> bool:
        return sum(len(part.lines) for part in self.parts) == self.line_count


class Source(Protocol):
    """Whatever a log can be read from by byte offset."""

    def read(self, offset: int, limit: int) -> LogPiece: ...


@dataclass(frozen=True)
class LogSource:
    """Which log of which attempt, and the store where it lies once it was collected."""

    run: TestRun
    name: str
    attempt: int | None
    store: ArtifactStore

    def read(self, offset: int, limit: int) -> LogPiece:
        """Raises NoSuchLog, StoreUnreachable, StoreRefused or ObjectMissing."""
        return read_log(
            self.run,
            self.name,
            offset=offset,
            limit=limit,
            store=self.store,
            attempt=self.attempt,
        )


def window(source: Source, *, around: int | None = None) -> LogWindow:
    """Return the first and last lines of a log, and those round line `around`."""
    kept: dict[int, str] = {}
    tail: list[int] = []
    reader = _Lines(source)
    for number, text in reader:
        is_wanted = around is not None and abs(number - around) <= EDGE_LINES // 2
        if number > EDGE_LINES and not is_wanted:
            tail.append(number)
            if len(tail) > EDGE_LINES:
                kept.pop(tail.pop(0), None)
        kept[number] = text
    return LogWindow(
        parts=_parts(kept),
        line_count=reader.count,
        next_offset=reader.offset,
        total=reader.total,
        is_final=reader.is_final,
    )


def new_lines(source: Source, *, offset: int, after_line: int) -> LogWindow:
    """Return whole lines from a byte offset that ended line `after_line`: one piece of them."""
    reader = _Lines(source, offset=offset, count=after_line, pieces=1)
    lines = tuple(Line(number, text) for number, text in reader)
    return LogWindow(
        parts=(Part(lines),) if lines else (),
        line_count=reader.count,
        next_offset=reader.offset,
        total=reader.total,
        is_final=reader.is_final,
    )


class _Lines:
    """Numbered lines of a log, as they are read."""

    def __init__(
        self, source: Source, *, offset: int = 0, count: int = 0, pieces: int | None = None
    ) -> None:
        self._source, self._pieces = source, pieces
        self.offset, self.count = offset, count
        self.total, self.is_final = 0, False

    def __iter__(self) -> Iterator[tuple[int, str]]:
        rest, at, read = b"", self.offset, 0
        while self._pieces is None or read < self._pieces:
            piece = self._source.read(at, PIECE_BYTES)
            self.total, self.is_final = piece.total, piece.is_final
            *lines, rest = (rest + piece.content).split(b"\n")
            for line in lines:
                yield from self._whole(line, ending=1)
            while len(rest) >= PIECE_BYTES:
                yield self._cut(rest[:PIECE_BYTES])
                rest = rest[PIECE_BYTES:]
            at, read = piece.next_offset, read + 1
            if not piece.content or at >= piece.total:
                break
        if rest and self.is_final and at >= self.total:
            yield self._cut(rest)

    def _whole(self, line: bytes, *, ending: int) -> Iterator[tuple[int, str]]:
        """Cut what nobody can show as one line, always at the same bytes."""
        while len(line) >= PIECE_BYTES:
            yield self._cut(line[:PIECE_BYTES])
            line = line[PIECE_BYTES:]
        self.offset += ending
        yield self._cut(line)

    def _cut(self, line: bytes) -> tuple[int, str]:
        self.offset += len(line)
        self.count += 1
        return self.count, _shown(line)


def _shown(line: bytes) -> str:
    text = line[: 4 * LONGEST_LINE].decode(errors="replace").rstrip("\r")
    # A progress bar rewrites its line: what stood there last is what was meant.
    text = text.rpartition("\r")[2]
    return text if len(text) <= LONGEST_LINE else text[: LONGEST_LINE - 1] + "…"


def _parts(kept: dict[int, str]) -> tuple[Part, ...]:
    parts: list[list[Line]] = []
    for number in sorted(kept):
        if not parts or parts[-1][-1].number != number - 1:
            parts.append([])
        parts[-1].append(Line(number, kept[number]))
    return tuple(Part(tuple(lines)) for lines in parts)
