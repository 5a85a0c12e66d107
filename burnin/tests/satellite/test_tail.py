"""A log is sent in parts, from where the hub has it."""

from __future__ import annotations

from burnin.satellite.messages import LOG_PART_BYTES, MOST_TAILED_BYTES, LogPart, TailOrder
from burnin.tests.satellite.bench import Bench
from burnin.tests.slurm.jobs import new_token

TOKEN = new_token()


def tailed(content: bytes, offset: int) -> list[tuple[int, bytes]]:
    bench = Bench()
    bench.cluster.files[TOKEN, "stdout.txt"] = content
    order = TailOrder(run_id=TOKEN.run_id, attempt=TOKEN.attempt, name="stdout.txt", offset=offset)
    bench.orders.tail(order)
    return [(fact.offset, fact.content) for fact in bench.told() if isinstance(fact, LogPart)]


def test_what_is_new_of_a_log_is_sent_in_parts_of_a_bounded_size() -> None:
    content = bytes(range(256)) * 1024

    parts = tailed(content, offset=10)

    assert [offset for offset, _ in parts] == [10 + n * LOG_PART_BYTES for n in range(4)]
    assert b"".join(part for _, part in parts) == content[10:]


def test_of_a_log_that_has_grown_by_much_a_bounded_piece_is_sent() -> None:
    parts = tailed(b"x" * (2 * MOST_TAILED_BYTES), offset=0)

    assert sum(len(part) for _, part in parts) == MOST_TAILED_BYTES


def test_of_a_log_that_has_not_grown_nothing_is_sent() -> None:
    assert tailed(b"hello", offset=5) == []
