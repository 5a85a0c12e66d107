"""One rank of a data-parallel training, whoever computes and sums; on CPUs numpy and MPI do.

A round trains one small network from the same weights on the same data, so that its loss falls
and every rank ends it with the very same weights.
"""

from __future__ import annotations

import json
import math
import time
from array import array
from pathlib import Path

from runner.workers.mpi import NO_MPI, connect
from runner.workers.network import Network
from runner.workers.node_numpy import NO_NUMPY, blas_name, numpy_of_node
from runner.workers.words import node_name, split_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Protocol

    class Ranks(Protocol):
        """All ranks of a training: Mpi, or those that torchrun started."""

        rank: int
        size: int

        def barrier(self) -> None: ...
        def all_reduce(self, given: Any, taken: Any) -> None: ...
        def longest(self, seconds: float) -> float: ...
        def gather_text(self, text: str) -> list[str]: ...

    class Trained(Protocol):
        """What is trained; `flop` is what one rank computes in one step."""

        flop: int
        given: Any
        taken: Any

        def agree_on_weights(self, ranks: Any) -> None: ...
        def reset(self) -> None: ...
        def compute_gradient(self) -> None: ...
        def apply(self, ranks: int) -> float: ...
        def checksum(self) -> str: ...


STEPS = 20  # of a round
WARM_UP = 3  # steps that no time is kept of
KEPT = 10  # rounds that are shown of all that went wrong


def main(arguments: Sequence[str]) -> int:
    """Take part; rank 0 writes the report. `duration_s=60 report=PATH`."""
    asked = split_words(arguments)
    numpy = numpy_of_node()
    if numpy is None:
        return NO_NUMPY
    mpi = connect()
    if mpi is None:
        return NO_MPI
    training = Training(mpi, Network(numpy, mpi.rank), node_name())
    training.run(float(asked["duration_s"]))
    versions = {"numpy": numpy.__version__, "blas": blas_name(), "mpi": mpi.version()}
    report = {**training.report(), "versions": versions}
    if mpi.rank == 0:
        Path(asked["report"]).write_text(json.dumps(report, allow_nan=False), encoding="utf-8")
    mpi.finish()
    return 0


class Training:
    """All rounds of one rank, and what is kept of them."""

    def __init__(self, ranks: Ranks, network: Trained, place: str) -> None:
        self._ranks, self._network, self._place = ranks, network, place
        self._step_s, self._compute_s = array("d"), array("d")
        self._rounds = 0
        self._losses: list[float] = []
        self._unequal: list[dict[str, object]] = []
        self._risen: list[dict[str, object]] = []

    def run(self, duration_s: float) -> None:
        """Train whole rounds until one rank's time is over: all of them stop together."""
        # One rank's weights for all: another version of numpy may make other random numbers.
        self._network.agree_on_weights(self._ranks)
        until = time.monotonic() + duration_s
        while self._rounds == 0 or not self._ranks.longest(float(time.monotonic() > until)):
            self._rounds += 1
            self._round()

    def report(self) -> dict[str, object]:
        """Return what rank 0 writes. Every rank must call it."""
        times = (self._compute_s, self._step_s)
        told = [median(times[0]), median(times[1]), late(times[1])]
        by_rank = [json.loads(text) for text in self._ranks.gather_text(json.dumps(told))]
        compute, step, late_step = (list(column) for column in zip(*by_rank))  # noqa: B905
        return {
            "ranks": self._ranks.size,
            "places": self._ranks.gather_text(self._place),
            "flop": self._network.flop,
            "rounds": self._rounds,
            "steps": STEPS,
            "losses": [finite(loss) for loss in self._losses],
            "compute_s": compute,
            "step_s": step,
            "p99_step_s": late_step,
            "unequal": self._unequal,
            "risen": self._risen,
        }

    def _round(self) -> None:
        self._network.reset()
        self._losses = [self._step(number) for number in range(STEPS)]
        if not is_falling(self._losses) and len(self._risen) < KEPT:
            losses = [finite(loss) for loss in self._losses]
            self._risen.append({"round": self._rounds, "losses": losses})
        checksums = self._ranks.gather_text(self._network.checksum())
        if len(set(checksums)) > 1 and len(self._unequal) < KEPT:
            self._unequal.append({"round": self._rounds, "checksums": checksums})
        if self._ranks.rank == 0:
            first, last = self._losses[0], self._losses[-1]
            print(f"round {self._rounds}: loss {first:.4f} to {last:.4f}", flush=True)

    def _step(self, number: int) -> float:
        """Make one step and return the loss before it, over all ranks."""
        self._ranks.barrier()
        began = time.perf_counter()
        self._network.compute_gradient()
        computed = time.perf_counter()
        self._ranks.all_reduce(self._network.given, self._network.taken)
        loss = self._network.apply(self._ranks.size)
        if self._rounds > 1 or number >= WARM_UP:
            self._compute_s.append(computed - began)
            self._step_s.append(time.perf_counter() - began)
        return loss


def median(times: array[float]) -> float:
    return sorted(times)[len(times) // 2]


def late(times: array[float]) -> float:
    """Return the time that 99 of 100 keep."""
    return sorted(times)[math.ceil(0.99 * len(times)) - 1]


def finite(loss: float) -> float | None:
    """JSON knows no NaN."""
    return loss if math.isfinite(loss) else None


def is_falling(losses: Sequence[float]) -> bool:
    """Say whether every loss is a number, and the last one below the first."""
    return all(map(math.isfinite, losses)) and losses[-1] < losses[0]
