"""Long answers, read a few hundred rows at a time."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

Row = TypeVar("Row")


def chunks(rows: Iterable[Row], size: int) -> Iterator[list[Row]]:
    """Yield lists of `size` rows, the last one shorter; none for no rows."""
    left = iter(rows)
    while chunk := list(islice(left, size)):
        yield chunk
