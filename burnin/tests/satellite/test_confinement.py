"""What a stolen satellite can do with its site's credentials: nothing beyond its own site."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from celery import Celery

from burnin.satellite import broker
from burnin.satellite.messages import RefreshOrder, TaskName
from burnin.tests.satellite.conftest import SITE
from burnin.tests.satellite.fake_hub import FakeHub
from burnin.tests.satellite.given import held_jobs, submit_order
from burnin.tests.satellite.private_redis import HUB_PASSWORD, PrivateRedis
from burnin.tests.satellite.process import SatelliteProcess, eventually
from burnin.workflow.site_queue import CelerySiteQueue

PASSWORD = "site-password"


@pytest.fixture
def east(redis: PrivateRedis) -> Callable[..., str]:
    """Run a Redis command with the credentials of site east, beside which there is site west."""
    redis.add_site("east")
    redis.add_site("west")
    return lambda *words: redis.cli(*words, user="site-east", password=PASSWORD)


@pytest.mark.parametrize(
    "command",
    [
        ("LPUSH", "site-west:orders", "x"),
        ("LPUSH", "hub", "x"),
        ("LPUSH", "celery", "x"),
        ("GET", "site-west:secret"),
        ("BRPOP", "site-west:orders", "1"),
        ("BRPOP", "hub", "1"),
        ("HGET", "site-west:unacked", "x"),
        ("SET", "site-eastern:orders", "x"),
        ("KEYS", "*"),
        ("SCAN", "0"),
        ("PUBLISH", "site-east:x", "x"),
        ("SUBSCRIBE", "x"),
        ("CONFIG", "GET", "*"),
        ("ACL", "LIST"),
        ("FLUSHALL",),
        ("EVAL", "return redis.call('GET', 'hub')", "0"),
        ("RENAME", "site-east:orders", "hub"),
        ("COPY", "site-east:orders", "hub"),
        ("RPOPLPUSH", "site-east:orders", "hub"),
        ("SORT", "site-east:orders", "STORE", "hub"),
        ("MONITOR",),
        ("CLIENT", "LIST"),
        ("SHUTDOWN",),
    ],
)
def test_beyond_its_own_queue_a_site_is_refused(
    east: Callable[..., str], command: tuple[str, ...]
) -> None:
    assert "NOPERM" in east(*command)


def test_its_own_queue_is_a_site_s_to_read(east: Callable[..., str], redis: PrivateRedis) -> None:
    redis.cli("LPUSH", "site-east:orders", "order")

    assert east("BRPOP", "site-east:orders", "1") == "site-east:orders\norder"


def send_as_east(redis: PrivateRedis, site: str, task: str, **options: object) -> str:
    """Send a task the way a stolen satellite would; return how that ended."""
    url = f"redis://site-east:{PASSWORD}@127.0.0.1:{redis.port}/0"
    try:
        with redis.queue(site, url=url) as app:
            app.send_task(task, kwargs={"order": {}}, queue=broker.ORDERS, retry=False, **options)  # type: ignore[arg-type]
    # Whatever kombu makes of a NOPERM: this is the edge at which it is looked at.
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


def test_an_order_for_another_site_cannot_be_sent(
    east: Callable[..., str], redis: PrivateRedis
) -> None:
    outcome = send_as_east(redis, "west", TaskName.REFRESH)

    assert "no permissions" in outcome
    assert redis.cli("EXISTS", "site-west:orders") == "0"


def test_a_task_of_the_hub_cannot_be_sent_to_the_hub(
    east: Callable[..., str], redis: PrivateRedis
) -> None:
    url = f"redis://site-east:{PASSWORD}@127.0.0.1:{redis.port}/0"
    app = Celery(broker=url, set_as_current=False)

    with app, pytest.raises(Exception, match="no permissions"):
        app.send_task("burnin.tasks.collect_batch", queue="hub", retry=False)

    assert redis.cli("EXISTS", "hub") == "0"


@pytest.mark.cluster
def test_a_forged_task_or_link_in_its_own_queue_reaches_nobody_else(
    hub: FakeHub, start_satellite: Callable[..., SatelliteProcess], redis: PrivateRedis
) -> None:
    redis.add_site("west")
    satellite = start_satellite()
    link: dict[str, object] = {
        "task": TaskName.REFRESH,
        "args": [],
        "kwargs": {"order": {}},
        "options": {"queue": "hub", "exchange": "", "routing_key": "site-west:orders"},
        "subtask_type": None,
        "immutable": True,
    }
    job = held_jobs(1)[0]
    sha256 = hub.add_bundle(b"runner")

    assert send_as_east(redis, SITE, "burnin.tasks.collect_batch") == ""
    assert send_as_east(redis, SITE, "celery.chain") == ""
    assert send_as_east(redis, SITE, TaskName.REFRESH, link=[link]) == ""
    redis.send(SITE, TaskName.SUBMIT, submit_order([job], sha256).model_dump(mode="json"))

    key = (job.token.run_id, 1)
    eventually(lambda: key in hub.answers(), what=f"the satellite to live on: {satellite.log}")
    keys = set(redis.cli("KEYS", "*").split())
    assert {each for each in keys if not each.startswith(f"site-{SITE}:")} == set()
    assert "Received unregistered task of type 'burnin.tasks.collect_batch'" in satellite.log
    assert "Received unregistered task of type 'celery.chain'" in satellite.log
    redis.send(
        SITE,
        TaskName.CANCEL,
        {"attempts": [{"run_id": key[0], "attempt": 1}], "reason": "done"},
    )
    eventually(
        lambda: key in hub.jobs() and hub.jobs()[key].state == "CANCELLED",
        what="the job to be cancelled",
    )


def test_an_order_of_the_hub_holds_no_secret_in_its_headers(redis: PrivateRedis) -> None:
    queue = CelerySiteQueue(f"redis://hub:{HUB_PASSWORD}@127.0.0.1:{redis.port}/0")

    queue.send("east", TaskName.REFRESH, RefreshOrder(), expires_s=60)

    message = json.loads(redis.cli("LINDEX", "site-east:orders", "0"))
    assert redis.cli("KEYS", "*") == "site-east:orders"
    assert message["headers"]["task"] == TaskName.REFRESH
    assert "jobs" not in message["headers"]["kwargsrepr"]
