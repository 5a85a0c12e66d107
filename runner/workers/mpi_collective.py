"""One rank of a collective: sizes from a latency to a bandwidth, every value checked."""

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

SIZES = (8, 1 << 20, 16 << 20)  # bytes of the whole buffer
REPEATS = 20
WARM_UP = 3


def main(arguments: Sequence[str]) -> int:
    """Take part; rank 0 writes the report. `op=all-reduce report=PATH`."""
    asked = split_words(arguments)
    mpi = connect()
    if mpi is None:
        return NO_MPI
    rows = [_measure(mpi, asked["op"], size_bytes) for size_bytes in SIZES]
    names = mpi.gather_text(node_name())
    if mpi.rank == 0:
        report = {
            "operation": asked["op"],
            "ranks": mpi.size,
            "nodes": names,
            "library": mpi.version(),
            "repeats": REPEATS,
            "sizes": rows,
        }
        Path(asked["report"]).write_text(json.dumps(report, allow_nan=False), encoding="utf-8")
    mpi.finish()
    return 0


def _measure(mpi: Mpi, operation: str, size_bytes: int) -> dict[str, object]:
    share = max(1, size_bytes // 8 // mpi.size)
    given, taken, expected = _buffers(mpi, operation, share)
    call = getattr(mpi, operation.replace("-", "_"))
    times_s = []
    for turn in range(WARM_UP + REPEATS):
        mpi.barrier()
        began = time.perf_counter()
        call(given, taken)
        took_s = mpi.longest(time.perf_counter() - began)
        if turn >= WARM_UP:
            times_s.append(took_s)
    wrong = mpi.gather_text(str(count_wrong(taken, expected)))
    if mpi.rank == 0:
        print(f"{operation}: {8 * len(taken)} bytes, {min(times_s) * 1e6:.0f} us", flush=True)
    return {"bytes": 8 * len(taken), "times_s": times_s, "wrong": [int(each) for each in wrong]}


def _buffers(
    mpi: Mpi, operation: str, share: int
) -> tuple[array[float], array[float], array[float]]:
    """Return what this rank gives, room for what it takes, and what must stand there."""
    size, everyone = mpi.size, range(mpi.size)
    if operation == "all-reduce":
        total = size * (size + 1) // 2
        given, expected = pattern(mpi.rank + 1, share * size), pattern(total, share * size)
    elif operation == "all-gather":
        given = pattern(mpi.rank + 1, share)
        expected = _joined([pattern(rank + 1, share) for rank in everyone])
    else:
        given = _joined([pattern(mpi.rank * size + other + 1, share) for other in everyone])
        expected = _joined([pattern(other * size + mpi.rank + 1, share) for other in everyone])
    return given, zeros(len(expected)), expected


def _joined(parts: Sequence[array[float]]) -> array[float]:
    joined = array("d")
    for part in parts:
        joined.extend(part)
    return joined
