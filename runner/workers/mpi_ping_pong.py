"""One of two ranks that send to each other, one direction after the other, every value checked."""

from __future__ import annotations

import json
import time
from array import array
from pathlib import Path

from runner.workers.mpi import NO_MPI, connect, zeros
from runner.workers.values import count_wrong, pattern
from runner.workers.words import node_name, split_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from runner.workers.mpi import Mpi

RANKS = 2
OTHER_COUNT = 4  # exit code of a worker that is not one of two
WORK = {  # by operation: bytes there, bytes back, repeats, repeats before they count
    "bandwidth": (8 << 20, 8, 20, 3),
    "latency": (8, 8, 1000, 100),
}


def main(arguments: Sequence[str]) -> int:
    """Take part; rank 0 writes the report. `op=bandwidth report=PATH`."""
    asked = split_words(arguments)
    mpi = connect()
    if mpi is None:
        return NO_MPI
    if mpi.size != RANKS:
        print(f"{node_name()}: {mpi.size} ranks are there, not {RANKS}", flush=True)
        return OTHER_COUNT
    names = mpi.gather_text(node_name())
    directions = [_measure(mpi, asked["op"], source, names) for source in range(RANKS)]
    if mpi.rank == 0:
        report = {
            "operation": asked["op"],
            "nodes": names,
            "library": mpi.version(),
            "bytes": WORK[asked["op"]][0],
            "directions": directions,
        }
        Path(asked["report"]).write_text(json.dumps(report, allow_nan=False), encoding="utf-8")
    mpi.finish()
    return 0


def _measure(mpi: Mpi, operation: str, source: int, names: Sequence[str]) -> dict[str, object]:
    """Return how long each message and its answer took, by the source's clock."""
    there, back, repeats, warm_up = WORK[operation]
    wrong, times_s = 0, array("d")
    mpi.barrier()
    for turn in range(warm_up + repeats):
        took_s, taken, expected = _exchange(mpi, source, turn, (there // 8, back // 8))
        wrong += count_wrong(taken, expected)
        if turn >= warm_up:
            times_s.append(took_s)
    times_s = _told_to_rank_0(mpi, source, times_s)
    all_wrong = [int(each) for each in mpi.gather_text(str(wrong))]
    if mpi.rank == 0:
        words = f"{names[source]}→{names[1 - source]}: {there} bytes, {min(times_s) * 1e6:.0f} us"
        print(words, flush=True)
    return {
        "source": names[source],
        "target": names[1 - source],
        "times_s": list(times_s),
        "wrong": all_wrong,
    }


def _told_to_rank_0(mpi: Mpi, source: int, times_s: array[float]) -> array[float]:
    if source == 0:
        return times_s
    if mpi.rank == source:
        mpi.send(times_s, 0)
        return times_s
    told = zeros(len(times_s))
    mpi.receive(told, source)
    return told


def _exchange(
    mpi: Mpi, source: int, turn: int, counts: tuple[int, int]
) -> tuple[float, array[float], array[float]]:
    """Send there and back; return the time, what came here, and what should have come."""
    there, back = _messages(turn, counts)
    if mpi.rank == source:
        taken = zeros(len(back))
        began = time.perf_counter()
        mpi.send(there, 1 - source)
        mpi.receive(taken, 1 - source)
        return time.perf_counter() - began, taken, back
    taken = zeros(len(there))
    mpi.receive(taken, source)
    mpi.send(back, source)
    return 0.0, taken, there


def _messages(turn: int, counts: tuple[int, int]) -> tuple[array[float], array[float]]:
    """Return what goes there and back; each turn is another, so that none passes for the last."""
    return pattern(2 + turn % 2, counts[0]), pattern(4 + turn % 2, counts[1])
