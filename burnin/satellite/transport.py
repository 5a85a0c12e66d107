"""Redis as kombu speaks it, but for one thing: what is no message ends no worker."""

from __future__ import annotations

import json
import logging
from queue import Empty
from typing import Any

from kombu.transport import redis

logger = logging.getLogger(__name__)


class Channel(redis.Channel):
    def _brpop_read(self, **options: Any) -> Any:
        try:
            return super()._brpop_read(**options)  # type: ignore[misc]
        except json.JSONDecodeError:
            logger.error("dropped from the queue what is no message")
            raise Empty from None


class Transport(redis.Transport):
    Channel = Channel

    def _deliver(self, message: Any, queue: str | None) -> None:
        try:
            properties = message["properties"]
            delivery = properties["delivery_info"]
            _ = properties["delivery_tag"], delivery["exchange"], delivery["routing_key"]
        except (KeyError, TypeError, IndexError):
            logger.error("dropped from the queue a message that is not whole")
            return
        super()._deliver(message, queue)
