"""The network that is trained: two layers, doubles, every value in flat arrays that MPI can sum."""

from __future__ import annotations

from hashlib import sha256

from runner.workers.mpi import zeros

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.workers.mpi import Mpi

BATCH, INPUTS, HIDDEN, OUTPUTS = 256, 512, 1024, 64
FIRST, SECOND = INPUTS * HIDDEN, HIDDEN * OUTPUTS  # weights of each layer
FLOP = 2 * BATCH * (2 * FIRST + 3 * SECOND)  # of a step: two products of the first, three
RATE = 0.05  # half of what lets the loss rise


class Network:
    """One rank's copy and its share of the data.

    `given` is what this rank adds, `taken` is room for the sum. The last value of each is the loss.
    """

    flop = FLOP

    def __init__(self, numpy: Any, rank: int) -> None:
        self._numpy = numpy
        self._start = zeros(FIRST + SECOND)
        self.given, self.taken = zeros(FIRST + SECOND + 1), zeros(FIRST + SECOND + 1)
        start = numpy.frombuffer(self._start)
        # RandomState gives the same numbers in every version of numpy, default_rng does not.
        random = numpy.random.RandomState(7)
        start[:FIRST] = random.standard_normal(FIRST) * (2 / INPUTS) ** 0.5
        start[FIRST:] = random.standard_normal(SECOND) * HIDDEN**-0.5
        teacher = random.standard_normal((INPUTS, OUTPUTS)) * INPUTS**-0.5
        self._inputs = numpy.random.RandomState(100 + rank).standard_normal((BATCH, INPUTS))
        self._wanted = self._inputs @ teacher
        self._weights = numpy.zeros(FIRST + SECOND)

    def agree_on_weights(self, mpi: Mpi) -> None:
        """Give every rank the first rank's weights, bit for bit: the others add zeros."""
        mine = self._start if mpi.rank == 0 else zeros(len(self._start))
        agreed = zeros(len(self._start))
        mpi.all_reduce(mine, agreed)
        self._start = agreed

    def reset(self) -> None:
        """Go back to the weights that every round starts from."""
        self._weights[:] = self._numpy.frombuffer(self._start)

    def compute_gradient(self) -> None:
        """Fill `given` by this rank's data."""
        first, second = self._layers(self._weights)
        gradient = self._numpy.frombuffer(self.given)
        first_gradient, second_gradient = self._layers(gradient)
        hidden = self._numpy.maximum(self._inputs @ first, 0)
        error = hidden @ second
        error -= self._wanted
        gradient[-1] = (error * error).mean()
        error *= 2 / error.size
        self._numpy.matmul(hidden.T, error, out=second_gradient)
        back = error @ second.T
        back *= hidden > 0
        self._numpy.matmul(self._inputs.T, back, out=first_gradient)

    def apply(self, ranks: int) -> float:
        """Move the weights by the sum in `taken`; return the mean loss of all ranks.

        A product and a difference round the same way on every CPU, so equal sums stay equal.
        """
        taken = self._numpy.frombuffer(self.taken)
        self._weights -= taken[:-1] * (RATE / ranks)
        return float(taken[-1]) / ranks

    def checksum(self) -> str:
        return sha256(self._weights.tobytes()).hexdigest()[:16]

    def _layers(self, flat: Any) -> tuple[Any, Any]:
        first = flat[:FIRST].reshape(INPUTS, HIDDEN)
        return first, flat[FIRST : FIRST + SECOND].reshape(HIDDEN, OUTPUTS)
