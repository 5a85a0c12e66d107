"""What kombu does on our transport when Redis goes away."""

from __future__ import annotations

from typing import Any, cast

import pytest
from kombu import Connection

from burnin.satellite import app as satellite
from burnin.satellite.transport import Transport
from burnin.tests.satellite.private_redis import HUB_PASSWORD, PrivateRedis
from fleet.celery import app as hub


def test_a_channel_that_outlives_its_connection_finds_it_lost(redis: PrivateRedis) -> None:
    """As in a worker: the connection has gone, a channel of it still wants to ask Redis."""
    url = f"redis://hub:{HUB_PASSWORD}@127.0.0.1:{redis.port}/0"
    connection = Connection(url, transport=Transport)
    channel = cast(Any, connection.channel())
    errors = connection.connection_errors

    redis.kill()
    connection.transport.client = None  # what closing does before the channel's own end
    channel._disconnect_pools()

    with pytest.raises(errors, match="closed already"), channel.conn_or_acquire():
        pass


def test_the_hub_speaks_it_as_satellites_do() -> None:
    wanted = f"{Transport.__module__}:{Transport.__qualname__}"

    assert hub.conf.broker_transport == wanted
    assert satellite.__name__ == "burnin.satellite.app"
