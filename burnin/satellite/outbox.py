"""Facts on their way to the hub: kept until the hub has answered for them.

Of facts about one thing only the newest is kept, so what waits is bounded by the attempts there
are, however long the hub is away. Parts of logs are the exception; of them the oldest go.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import count

from burnin.satellite.messages import (
    FACTS_PER_POST,
    Envelope,
    Fact,
    FactAnswer,
    FactBatch,
    Heartbeat,
    LogPart,
    NodesSeen,
    SiteChecked,
    SubmitAnswered,
)

Key = tuple[object, ...]

BYTES_PER_POST = 2 << 20
LOG_PARTS_KEPT = 100
FINAL_ANSWERS = frozenset({"accepted", "refused", "given_up"})


class Outbox:
    """Safe to share between threads. `on_put` is called when there is something new."""

    def __init__(self, on_put: Callable[[], None] = lambda: None) -> None:
        self.on_put = on_put
        self._lock = threading.Lock()
        self._waiting: dict[Key, Envelope] = {}
        self._ids = _ids()

    def put(self, facts: Iterable[Fact]) -> None:
        """Take facts, each in place of an older one about the same thing."""
        with self._lock:
            for fact in facts:
                self._take(fact)
        self.on_put()

    def batch(self, most: int = FACTS_PER_POST) -> FactBatch | None:
        """Return the oldest facts, as many as one POST may hold; None when there are none."""
        with self._lock:
            chosen = list(_within_a_post(self._waiting.values(), most))
        return FactBatch(facts=tuple(chosen)) if chosen else None

    def settle(self, answer: FactAnswer) -> None:
        """Forget what the hub took, and what it will never take."""
        ids = {*answer.acknowledged, *(refusal.id for refusal in answer.refused)}
        with self._lock:
            # A newer fact that took the place of one in flight has another id, and stays.
            done = [key for key, envelope in self._waiting.items() if envelope.id in ids]
            for key in done:
                del self._waiting[key]

    def __len__(self) -> int:
        return len(self._waiting)

    def _take(self, fact: Fact) -> None:
        key = _key(fact)
        older = self._waiting.get(key)
        if older is not None and _is_final_answer(older.fact) and not _is_final_answer(fact):
            return
        self._waiting[key] = Envelope(id=next(self._ids), fact=fact)
        if isinstance(fact, LogPart):
            self._drop_old_log_parts()

    def _drop_old_log_parts(self) -> None:
        parts = [key for key in self._waiting if key[0] == "log_part"]
        for key in parts[:-LOG_PARTS_KEPT]:
            del self._waiting[key]


def _ids() -> Iterator[str]:
    """Ids that no other life of this satellite has used."""
    life = secrets.token_hex(8)
    return (f"{life}-{number}" for number in count(1))


def _key(fact: Fact) -> Key:
    """Say what a fact is about."""
    match fact:
        case Heartbeat() | NodesSeen():
            return (fact.kind,)
        case SiteChecked():
            return (fact.kind, fact.request_id)
        case LogPart():
            return (fact.kind, fact.run_id, fact.attempt, fact.name, fact.offset)
        case _:
            return (fact.kind, fact.run_id, fact.attempt)


def _is_final_answer(fact: Fact) -> bool:
    return isinstance(fact, SubmitAnswered) and fact.answer in FINAL_ANSWERS


def _within_a_post(envelopes: Iterable[Envelope], most: int) -> Iterator[Envelope]:
    """Yield at least one, and no more than a POST may hold."""
    size_bytes = 0
    for position, envelope in enumerate(envelopes):
        size_bytes += _rough_size(envelope.fact)
        if position and (position >= most or size_bytes > BYTES_PER_POST):
            return
        yield envelope


def _rough_size(fact: Fact) -> int:
    """Guess bytes of JSON: what is large is large because of these."""
    match fact:
        case LogPart():
            return 300 + len(fact.content) * 4 // 3
        case NodesSeen():
            return 200 * len(fact.nodes)
        case _:
            return 400
