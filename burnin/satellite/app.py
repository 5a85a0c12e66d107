"""The satellite as a Celery worker: `celery -A burnin.satellite.app worker`.

FLEET_SITE_FILE names the site's TOML file. JSON only, no results, no remote control, no gossip:
the site's Redis user could not do more, and need not.
"""

from __future__ import annotations

import logging
import os
import ssl
import sys
import threading
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from celery import Celery, signals
from celery.apps.worker import Worker

from burnin.pulse import give_pulse
from burnin.satellite import broker
from burnin.satellite.config import (
    BadSite,
    BrokerConfig,
    HubConfig,
    SiteConfig,
    load_satellite,
)
from burnin.satellite.redaction import Redaction
from burnin.satellite.satellite import Satellite

SITE_FILE = "FLEET_SITE_FILE"

logger = logging.getLogger(__name__)


class QuietWorker(Worker):
    """A worker that talks to nobody but its queue, whatever its command line says."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        for name in ("without_gossip", "without_mingle", "without_heartbeat"):
            options[name] = True
        super().__init__(*arguments, **options)


class SatelliteApp(Celery):
    @cached_property
    def Worker(self) -> type[QuietWorker]:
        return self.subclass_with_self(QuietWorker)


@cache
def configuration() -> tuple[SiteConfig, HubConfig, BrokerConfig]:
    """Read the site's file once. Ends the process with one sentence when it is wrong."""
    path = os.environ.get(SITE_FILE, "")
    try:
        if not path:
            raise BadSite(f"{SITE_FILE} is not set: it names the site's TOML file")
        return load_satellite(Path(path))
    except BadSite as error:
        sys.exit(f"satellite: {error}")


_building = threading.Lock()


def satellite() -> Satellite:
    """Return the one satellite of this process."""
    with _building:
        return _build()


@cache
def _build() -> Satellite:
    site, hub, _ = configuration()
    return Satellite(site, hub)


def _settings() -> dict[str, Any]:
    site, _, queue = configuration()
    options = broker.transport_options(site.name)
    return {
        "broker_url": queue.url.get_secret_value(),
        "broker_transport": "burnin.satellite.transport:Transport",
        "broker_transport_options": options | {"visibility_timeout": queue.visibility_timeout_s},
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        "task_queues": (broker.orders_queue(),),
        "task_default_queue": broker.ORDERS,
        "task_create_missing_queues": False,
        "task_acks_late": True,
        "task_ignore_result": True,
        "task_serializer": "json",
        "accept_content": ["json"],
        "worker_prefetch_multiplier": 1,
        "worker_concurrency": queue.concurrency,
        "worker_pool": "threads",
        "worker_enable_remote_control": False,
        "worker_send_task_events": False,
        "worker_hijack_root_logger": True,
        **_tls(queue),
        "worker_cancel_long_running_tasks_on_connection_loss": False,
    }


def _tls(queue: BrokerConfig) -> dict[str, Any]:
    """Check the broker's certificate: kombu does not, unless it is told to."""
    if not queue.url.get_secret_value().startswith("rediss:"):
        return {}
    checks: dict[str, Any] = {"ssl_cert_reqs": ssl.CERT_REQUIRED}
    if queue.ca_file is not None:
        checks["ssl_ca_certs"] = str(queue.ca_file)
    return {"broker_use_ssl": checks}


app = SatelliteApp("burnin.satellite", set_as_current=False, include=["burnin.satellite.tasks"])
app.add_defaults(_settings)
give_pulse(app)


@signals.worker_init.connect
def _start(**_: object) -> None:
    """Observe and report from the start: facts do not need the broker."""
    for name in [name for name in app.tasks if name.startswith("celery.")]:
        app.tasks.pop(name)  # Celery's own tasks run what their sender names
    satellite().start()


@signals.worker_shutdown.connect
def _stop(**_: object) -> None:
    satellite().stop()


@signals.after_setup_logger.connect
def _redact(logger: logging.Logger, **_: object) -> None:
    for handler in logger.handlers:
        handler.addFilter(Redaction())
