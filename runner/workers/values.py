"""What ranks send to each other, and how many values came back changed."""

from __future__ import annotations

from array import array
from operator import ne

PATTERN = 7  # sums of small whole numbers are exact, whatever order they are added in


def pattern(factor: int, count: int) -> array[float]:
    whole = array("d", [float(factor * number) for number in range(1, PATTERN + 1)])
    return (whole * (count // PATTERN + 1))[:count]


def count_wrong(taken: array[float], expected: array[float]) -> int:
    # Compared as bytes: a NaN would differ from itself, and a loop would take a second.
    if taken.tobytes() == expected.tobytes():
        return 0
    return sum(map(ne, taken, expected))
