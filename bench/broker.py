"""Counts the tasks that are put into queues, as the broker itself sees them."""

from __future__ import annotations

from collections import Counter
from threading import Thread
from types import TracebackType

import redis

from bench.place import Place
from burnin.satellite import broker as site_broker
from fleet.celery import KEY_PREFIX, QUEUE

HUB = f"{KEY_PREFIX}{QUEUE}"
PUSHES = frozenset({"lpush", "rpush"})  # a redelivered task is pushed again, and counts again


def orders_key(site: str) -> str:
    return f"{site_broker.key_prefix(site)}{site_broker.ORDERS}"


class Pushes:
    """While it lasts, `counts` holds how often something was put into each queue."""

    def __init__(self, place: Place, *keys: str) -> None:
        place.services.redis_cli("CONFIG", "SET", "notify-keyspace-events", "Kl")
        self._client = redis.Redis.from_url(place.services.redis_url)
        self._channels = {f"__keyspace@0__:{key}": key for key in keys}
        self.counts: Counter[str] = Counter(dict.fromkeys(keys, 0))

    def __enter__(self) -> Pushes:
        self._listening = self._client.pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]
        self._listening.subscribe(*self._channels)
        self._is_over = False
        self._thread = Thread(target=self._count, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self._is_over = True
        self._thread.join(5)
        self._listening.close()
        self._client.close()

    def _count(self) -> None:
        while not self._is_over:
            message = self._listening.get_message(timeout=0.2)
            if message and message["data"].decode() in PUSHES:
                self.counts[self._channels[message["channel"].decode()]] += 1
