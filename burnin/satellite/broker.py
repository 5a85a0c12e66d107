"""What hub and satellite agree on about a site's queue, so that an ACL can confine the satellite.

All keys of a site begin with its prefix. Nothing else is shared: no bindings, no pub/sub.
"""

import socket
from typing import Any

from kombu import Exchange, Queue

ORDERS = "orders"
# A worker only listens: a peer that vanished without a word is found by nothing but this.
KEEPALIVE = {socket.TCP_KEEPIDLE: 15, socket.TCP_KEEPINTVL: 5, socket.TCP_KEEPCNT: 3}


def key_prefix(site_name: str) -> str:
    """Return what every key of the site begins with; no site's prefix begins another's."""
    return f"site-{site_name}:"


def orders_queue() -> Queue:
    """Return the one queue of a site. Nobody declares it: that would write binding keys."""
    return Queue(ORDERS, Exchange(ORDERS), routing_key=ORDERS, no_declare=True)


def transport_options(site_name: str) -> dict[str, Any]:
    """Return how both ends talk to Redis. One priority: others would be keys of their own."""
    return {
        "global_keyprefix": key_prefix(site_name),
        "priority_steps": [0],
        "health_check_interval": 10,  # without it a dead connection is waited on for ever
        "socket_keepalive": True,
        "socket_keepalive_options": KEEPALIVE,
        "socket_connect_timeout": 5,
        "socket_timeout": 30,
    }
