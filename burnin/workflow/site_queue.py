"""Sends orders into a site's own queue. The site's Redis user can read that queue and no other."""

from functools import lru_cache
from typing import Protocol

from celery import Celery
from celery.exceptions import CeleryError
from kombu.exceptions import KombuError
from redis.exceptions import RedisError

from burnin.satellite import broker
from burnin.satellite.messages import Message

SITES_KEPT = 256
# Reconcile is what tries again: Celery would hold up every step for 6 s each time.
GIVE_UP_AT_ONCE = {"max_retries": 1, "interval_start": 0, "interval_step": 0, "interval_max": 0}


class QueueUnreachable(Exception):
    """The broker did not take the order. It is sent again by the next reconcile."""


class SiteQueue(Protocol):
    def send(self, site_name: str, task_name: str, order: Message, *, expires_s: int) -> None:
        """Put an order into the site's queue, where it is worth nothing after `expires_s`.

        Raises QueueUnreachable.
        """
        ...


class CelerySiteQueue:
    """Orders as Celery tasks, each site below its own key prefix of one Redis server."""

    def __init__(self, broker_url: str) -> None:
        self._broker_url = broker_url
        self._app = lru_cache(maxsize=SITES_KEPT)(self._make_app)

    def send(self, site_name: str, task_name: str, order: Message, *, expires_s: int) -> None:
        try:
            self._app(site_name).send_task(
                task_name,
                kwargs={"order": order.model_dump(mode="json")},
                queue=broker.ORDERS,  # not an exchange: that alone would go to Celery's own queue
                kwargsrepr="(an order)",  # it goes into the log; the order may hold upload URLs
                expires=expires_s,
                retry=False,
                ignore_result=True,
            )
        except (KombuError, CeleryError, RedisError, OSError) as error:
            raise QueueUnreachable(f"the queue of site {site_name}: {error}") from error

    def _make_app(self, site_name: str) -> Celery:
        app = Celery(f"orders-{site_name}", broker=self._broker_url, set_as_current=False)
        app.conf.update(
            broker_transport_options=broker.transport_options(site_name) | GIVE_UP_AT_ONCE,
            task_queues=(broker.orders_queue(),),
            broker_connection_retry=False,
            task_serializer="json",
            accept_content=["json"],
        )
        return app
