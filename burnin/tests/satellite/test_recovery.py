"""A satellite that is killed, and a broker that is: nothing doubles, nothing is lost."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from itertools import chain
from pathlib import Path

import pytest

from burnin.satellite.config import SiteConfig, cluster_at
from burnin.satellite.messages import (
    CancelOrder,
    Heartbeat,
    Message,
    OfAttempt,
    RefreshOrder,
    TaskName,
)
from burnin.slurm.client import SlurmClient
from burnin.slurm.cluster import Submission
from burnin.tests.satellite.conftest import SITE
from burnin.tests.satellite.fake_hub import FakeHub
from burnin.tests.satellite.given import held_jobs, submit_order
from burnin.tests.satellite.private_redis import PrivateRedis
from burnin.tests.satellite.process import SatelliteProcess, eventually
from burnin.tests.slurm.gate import Gate
from runner.contract.wire import AttemptToken

pytestmark = pytest.mark.cluster

Send = Callable[[str, Message], None]
Start = Callable[..., SatelliteProcess]


@pytest.fixture
def client(site: SiteConfig) -> SlurmClient:
    return cluster_at(site)


@pytest.fixture
def jobs(client: SlurmClient) -> Iterator[list[Submission]]:
    """Jobs that wait for ever; whatever Slurm has of them is gone when the test ends."""
    jobs = held_jobs(60)
    yield jobs
    client.cancel(chain.from_iterable(ids(client, jobs).values()))


def ids(client: SlurmClient, jobs: list[Submission]) -> dict[AttemptToken, list[str]]:
    shown = client.observe().snapshots
    return {job.token: [each.job_id for each in shown.get(job.token, [])] for job in jobs}


def accepted(hub: FakeHub, jobs: list[Submission]) -> int:
    answers = hub.answers()
    keys = [(job.token.run_id, job.token.attempt) for job in jobs]
    return sum(key in answers and answers[key].answer == "accepted" for key in keys)


def test_a_satellite_killed_in_the_middle_of_a_batch_doubles_nothing_and_loses_nothing(
    hub: FakeHub,
    start_satellite: Start,
    send: Send,
    jobs: list[Submission],
    client: SlurmClient,
    tmp_path: Path,
) -> None:
    sha256 = hub.add_bundle(b"runner")
    order = submit_order(jobs, sha256)
    gate = Gate(tmp_path / "login")
    gate.hold_after(len(jobs) // 2)
    killed = start_satellite(login_path=str(gate.directory))
    send(TaskName.SUBMIT, order)
    eventually(gate.is_holding, what="half of the jobs to be there")
    killed.kill()
    before = sum(len(each) for each in ids(client, jobs).values())
    assert accepted(hub, jobs) == 0
    gate.open()

    start_satellite(login_path=str(gate.directory))
    send(TaskName.SUBMIT, order)  # the hub has heard nothing, and orders it again

    eventually(lambda: accepted(hub, jobs) == len(jobs), what="every job to be accepted")
    assert 0 < before < len(jobs)
    assert {len(each) for each in ids(client, jobs).values()} == {1}
    assert {key: [fact.job_id] for key, fact in hub.answers().items()} == {
        (token.run_id, token.attempt): each for token, each in ids(client, jobs).items()
    }


def test_an_order_that_a_killed_satellite_held_is_delivered_again_under_the_acl(
    hub: FakeHub, start_satellite: Start, send: Send, jobs: list[Submission], redis: PrivateRedis
) -> None:
    sha256 = hub.add_bundle(b"runner")
    hub.gives_bundles.clear()
    killed = start_satellite()  # whose own order does not come again while it lives
    send(TaskName.SUBMIT, submit_order(jobs[:3], sha256))
    eventually(lambda: bool(hub.bundle_requests), what="the order to be carried out")
    killed.kill()
    assert redis.cli("HLEN", f"site-{SITE}:unacked") == "1"
    hub.gives_bundles.set()

    def is_due() -> bool:
        taken_at = redis.cli("ZRANGE", f"site-{SITE}:unacked_index", "0", "-1", "WITHSCORES")
        return time.time() - float(taken_at.split()[-1]) > 3

    eventually(is_due, what="the visibility timeout to pass")
    restarted = start_satellite(visibility_timeout_s=3)

    eventually(lambda: accepted(hub, jobs) == 3, what="the order to come again")
    eventually(lambda: redis.cli("HLEN", f"site-{SITE}:unacked") == "0", what="its acknowledgement")
    assert "NOPERM" not in restarted.log


def test_a_broker_that_is_killed_and_comes_back_is_listened_to_again(
    hub: FakeHub, start_satellite: Start, send: Send, jobs: list[Submission], redis: PrivateRedis
) -> None:
    sha256 = hub.add_bundle(b"runner")
    satellite = start_satellite()
    send(TaskName.SUBMIT, submit_order(jobs[:1], sha256))
    eventually(lambda: accepted(hub, jobs) == 1, what="the first job to be accepted")

    redis.kill()
    eventually(lambda: "Connection to broker lost" in satellite.log, what="the loss to be noticed")
    redis.start()
    for job in jobs[1:6]:
        send(TaskName.SUBMIT, submit_order([job], sha256))

    eventually(lambda: accepted(hub, jobs) == 6, what="the others to be accepted")
    assert satellite.is_alive
    assert satellite.stop() == 0


def test_orders_that_wait_survive_a_kill_of_the_broker(
    hub: FakeHub, start_satellite: Start, send: Send, jobs: list[Submission], redis: PrivateRedis
) -> None:
    sha256 = hub.add_bundle(b"runner")
    for job in jobs[:20]:
        send(TaskName.SUBMIT, submit_order([job], sha256))
    redis.kill()
    redis.start()

    start_satellite()

    eventually(lambda: accepted(hub, jobs) == 20, what="every order to be carried out")


def test_a_satellite_reports_and_observes_while_its_broker_is_away(
    hub: FakeHub, site_file: Callable[..., Path], redis: PrivateRedis
) -> None:
    path = site_file()
    redis.kill()
    satellite = SatelliteProcess(path)

    def is_well() -> bool:
        beats = [fact for fact in hub.facts() if isinstance(fact, Heartbeat)]
        return bool(beats) and beats[-1].login_host == ""

    eventually(is_well, what="a heartbeat that says what can be reached")
    # It reports before Celery listens to signals; until then TERM ends it as the kernel would.
    assert satellite.stop() in (0, -signal.SIGTERM)
    redis.start()


def test_a_bad_order_does_not_stop_the_next(
    hub: FakeHub, start_satellite: Start, send: Send, jobs: list[Submission], redis: PrivateRedis
) -> None:
    sha256 = hub.add_bundle(b"runner")
    satellite = start_satellite()

    redis.send(SITE, TaskName.SUBMIT, {"jobs": "https://store/key?sig=SECRET"})
    redis.send(SITE, TaskName.RELAY, None)
    redis.send(SITE, "satellite.no_such_task", {"url": "https://store/key?sig=SECRET"})
    for torn in ("this is no message", "{}", "[]", '{"properties": {"delivery_tag": "x"}}'):
        redis.cli("LPUSH", f"site-{SITE}:orders", torn)
    send(TaskName.REFRESH, RefreshOrder())
    send(TaskName.SUBMIT, submit_order(jobs[:1], sha256))

    eventually(lambda: accepted(hub, jobs) == 1, what=f"the good order: {satellite.log}")
    assert "dropped a SubmitOrder that is wrong at" in satellite.log
    assert "SECRET" not in satellite.log
    attempts = (OfAttempt(run_id=jobs[0].token.run_id, attempt=1),)
    send(TaskName.CANCEL, CancelOrder(attempts=attempts, reason="done"))
    eventually(
        lambda: (
            [fact.state for fact in hub.jobs().values() if fact.run_id == attempts[0].run_id]
            == ["CANCELLED"]
        ),
        what="the job to be cancelled",
    )
