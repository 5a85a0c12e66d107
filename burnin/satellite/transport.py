"""Redis as kombu speaks it, but what is no message ends no worker, nor does a broker's death.

Hub and satellites use it.
"""

from __future__ import annotations

import json
import logging
from queue import Empty
from typing import Any

from kombu.transport import redis

logger = logging.getLogger(__name__)


class Channel(redis.Channel):
    def _connparams(self, asynchronous: bool = False) -> Any:
        # When Redis dies at a bad moment, kombu drops the connection before the last of its
        # channels has closed. That one then asks nobody for the host, and the AttributeError ends
        # the worker; of a lost connection it recovers.
        if self.connection.client is None:
            raise ConnectionError("the connection to the broker is closed already")
        return super()._connparams(asynchronous=asynchronous)  # type: ignore[misc]

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
