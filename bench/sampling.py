"""Product and reference in turn, so that what else the machine does falls on both."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median

Sample = Callable[[], float]


@dataclass(frozen=True)
class Pair:
    """What each round measured of both sides, in one unit."""

    product: tuple[float, ...]
    reference: tuple[float, ...]

    @property
    def ratio(self) -> float:
        return median(self.product) / median(self.reference)

    @property
    def rounds(self) -> str:
        """Say what the rounds' own ratios were, so that noise can be seen."""
        each = sorted(p / r for p, r in zip(self.product, self.reference, strict=True))
        return f"ratios of the {len(each)} rounds {', '.join(f'{ratio:.2f}' for ratio in each)}"


def alternate(product: Sample, reference: Sample, *, rounds: int) -> Pair:
    """Sample both sides once a round; who goes first changes from round to round."""
    products, references = [], []
    for number in range(rounds):
        if number % 2:
            references.append(reference())
            products.append(product())
        else:
            products.append(product())
            references.append(reference())
    return Pair(tuple(products), tuple(references))


def seconds(work: Callable[[], object]) -> float:
    """Return how long the work took."""
    started = time.perf_counter()
    work()
    return time.perf_counter() - started
