"""Orders on a real Redis: a site's own user reads them, and finds nothing else."""

import pytest
from kombu import Connection

from burnin.satellite import broker
from burnin.satellite.messages import CancelOrder, OfAttempt, TaskName
from burnin.workflow.site_queue import CelerySiteQueue, QueueUnreachable
from deploy.cluster.testing import RealServices

ORDER = CancelOrder(
    attempts=(OfAttempt(run_id="6f1c2b1e-0d4a-4f51-9a5e-2f3f4d5a6b7c", attempt=1),), reason="x"
)


def read_order(url: str, site: str) -> dict[str, object] | None:
    """Take one message as the site's own user."""
    options = broker.transport_options(site)
    with Connection(url, transport_options=options) as connection:
        simple = connection.SimpleQueue(broker.orders_queue())  # type: ignore[arg-type]
        try:
            message = simple.get(timeout=2)
            message.ack()
            return {"task": message.headers["task"], "order": message.payload[1]["order"]}
        except simple.Empty:
            return None
        finally:
            simple.close()


def test_an_order_reaches_its_site_and_no_other(services: RealServices) -> None:
    queue = CelerySiteQueue(services.redis_url)
    urls = {site: services.site_broker_url(site) for site in ("queue-a", "queue-b")}

    queue.send("queue-a", TaskName.CANCEL, ORDER, expires_s=60)

    assert read_order(urls["queue-b"], "queue-b") is None
    assert read_order(urls["queue-a"], "queue-a") == {
        "task": TaskName.CANCEL,
        "order": ORDER.model_dump(mode="json"),
    }


def test_a_broker_that_is_away_is_said_to_be_so_at_once() -> None:
    queue = CelerySiteQueue("redis://127.0.0.1:1/0")

    with pytest.raises(QueueUnreachable, match="the queue of site east"):
        queue.send("east", TaskName.CANCEL, ORDER, expires_s=60)
