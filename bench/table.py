"""The lines of the table: what was measured, what it is held against, and whether that is met."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

HEAD = ("id", "what", "product", "reference", "ratio", "target", "verdict")
RIGHT_ALIGNED = frozenset({"product", "reference", "ratio"})


class Side(StrEnum):
    AT_MOST = "≤"
    AT_LEAST = "≥"


@dataclass(frozen=True)
class Target:
    """What is good enough, and what would be better still. `unit` is "" for a ratio."""

    side: Side
    limit: float
    stretch: float
    unit: str = ""

    def verdict(self, value: float) -> str:
        """Say in a word or two how the value stands. A value that is no number is a miss."""
        if self._holds(value, self.stretch):
            return "met, stretch too"
        if self._holds(value, self.limit):
            return "met"
        return f"MISSED by {self._miss(value):.0%}"

    def is_met(self, value: float) -> bool:
        return self._holds(value, self.limit)

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.side} {self.limit:g}{unit} ({self.stretch:g})"

    def _holds(self, value: float, limit: float) -> bool:
        return value <= limit if self.side is Side.AT_MOST else value >= limit

    def _miss(self, value: float) -> float:
        """Return how far beyond the limit the value lies, as a share of the limit."""
        return abs(value - self.limit) / self.limit


def at_most(limit: float, stretch: float, unit: str = "") -> Target:
    return Target(Side.AT_MOST, limit, stretch, unit)


def at_least(limit: float, stretch: float, unit: str = "") -> Target:
    return Target(Side.AT_LEAST, limit, stretch, unit)


@dataclass(frozen=True)
class Line:
    """One target, measured. `value` is what the target is about: a ratio, or the product's figure.

    `product` and `reference` are absolute figures in words; `notes` go below the table.
    """

    id: str
    what: str
    product: str
    reference: str
    ratio: float | None
    value: float
    target: Target
    notes: tuple[str, ...] = ()

    @property
    def cells(self) -> tuple[str, ...]:
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        verdict = self.target.verdict(self.value)
        return (
            self.id, self.what, self.product, self.reference, ratio, str(self.target), verdict,
        )  # fmt: skip


@dataclass(frozen=True)
class NotMeasured:
    """A target that could not be measured, and why. It is never left out."""

    id: str
    what: str
    why: str
    notes: tuple[str, ...] = ()

    @property
    def cells(self) -> tuple[str, ...]:
        return (self.id, self.what, "", "", "", "", f"NOT MEASURED: {self.why}")


def render(lines: Sequence[Line | NotMeasured]) -> str:
    """Return the table as Markdown that is aligned for a terminal too, notes below it."""
    rows = [HEAD, *(line.cells for line in lines)]
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEAD))]
    widths[-1] = len(HEAD[-1])  # the last column's sentences need no padding
    ruler = [_rule(name, width) for name, width in zip(HEAD, widths, strict=True)]
    table = [_joined(_padded(HEAD, widths)), _joined(ruler)]
    table += [_joined(_padded(line.cells, widths)) for line in lines]
    return "\n".join([*table, *_notes(lines)])


def _rule(name: str, width: int) -> str:
    return "-" * (width - 1) + ":" if name in RIGHT_ALIGNED else "-" * width


def _padded(cells: Iterable[str], widths: Sequence[int]) -> list[str]:
    return [
        cell.rjust(width) if name in RIGHT_ALIGNED else cell.ljust(width)
        for name, cell, width in zip(HEAD, cells, widths, strict=True)
    ]


def _joined(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _notes(lines: Sequence[Line | NotMeasured]) -> list[str]:
    told = [f"* {line.id}: {note}" for line in lines for note in line.notes]
    return ["", *told] if told else []
