"""Two ranks of the ping-pong, each in a thread, with queues for a wire."""

from __future__ import annotations

from array import array
from concurrent.futures import ThreadPoolExecutor
from queue import Queue
from typing import Any, cast

import pytest

from runner.workers import mpi_ping_pong
from runner.workers.mpi import Mpi

NAMES = ["n1", "n2"]


class Rank:
    """One end of a wire. `flips` is which message it receives with a value changed."""

    def __init__(self, rank: int, wires: list[Queue[array[float]]], flips: int = -1) -> None:
        self.rank, self.size = rank, 2
        self._in, self._out = wires[rank], wires[1 - rank]
        self._taken, self._flips = 0, flips

    def barrier(self) -> None: ...

    def send(self, given: array[float], to: int) -> None:
        assert to == 1 - self.rank
        self._out.put(array("d", given))

    def receive(self, taken: array[float], sender: int) -> None:
        assert sender == 1 - self.rank
        taken[:] = self._in.get(timeout=5)
        if self._taken == self._flips:
            taken[0] += 1
        self._taken += 1

    def gather_text(self, text: str) -> list[str]:
        mine = array("d", [float(text)])
        self._out.put(mine)
        told = self._in.get(timeout=5)
        both = [mine, told] if self.rank == 0 else [told, mine]
        return [str(int(each[0])) for each in both]


def measured(
    monkeypatch: pytest.MonkeyPatch, *, source: int, flips: int = -1
) -> list[dict[str, Any]]:
    monkeypatch.setitem(mpi_ping_pong.WORK, "latency", (64, 8, 3, 1))
    wires: list[Queue[array[float]]] = [Queue(), Queue()]
    ranks = [cast("Mpi", Rank(0, wires)), cast("Mpi", Rank(1, wires, flips))]
    with ThreadPoolExecutor(2) as pool:
        told = pool.map(lambda mpi: mpi_ping_pong._measure(mpi, "latency", source, NAMES), ranks)
        return list(told)


@pytest.mark.parametrize("source", [0, 1])
def test_each_direction_is_timed_by_its_source_after_the_warm_up(
    monkeypatch: pytest.MonkeyPatch, source: int
) -> None:
    told = measured(monkeypatch, source=source)[0]

    assert (told["source"], told["target"]) == (NAMES[source], NAMES[1 - source])
    assert len(told["times_s"]) == 3
    assert all(time_s > 0 for time_s in told["times_s"])
    assert told["wrong"] == [0, 0]


@pytest.mark.parametrize("flips", [0, 3])
def test_a_changed_value_is_counted_where_it_came_in_even_while_warming_up(
    monkeypatch: pytest.MonkeyPatch, flips: int
) -> None:
    assert measured(monkeypatch, source=0, flips=flips)[0]["wrong"] == [0, 1]


def test_an_old_message_is_not_taken_for_the_next_one() -> None:
    turns = [mpi_ping_pong._messages(turn, (8, 1)) for turn in (0, 1)]

    assert turns[0] != turns[1]
    assert turns[0][0] != turns[1][0]
