"""kill -9 while work is in flight: afterwards each run is judged once and Slurm ran each once."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import psycopg
import pytest

from burnin.tests.e2e.conftest import venv_home
from burnin.tests.e2e.stack import Stack
from burnin.tests.slurm.gate import Gate
from conftest import SETTINGS
from deploy.cluster import testing
from runner.contract.slugs import Slugs
from runner.contract.wire import AttemptToken

pytestmark = [pytest.mark.cluster, pytest.mark.slow, pytest.mark.xdist_group("sudden-death")]

NODES, STEPS = 10, 10
RUNS = NODES * STEPS
HELD_AFTER = 40
HELLOS = [{"slug": Slugs.HELLO_WORLD, "timeout_minutes": 5} for _ in range(STEPS)]
END_S = 600.0
# Without -S, sacct forgets at midnight what ran before it.
SACCT = ("sacct", "-n", "-X", "-P", "-D", "-S", "now-1days", "-o", "JobName")


@pytest.fixture(scope="module")
def gate(tmp_path_factory: pytest.TempPathFactory) -> Gate:
    return Gate(tmp_path_factory.mktemp("gate") / "login")


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, gate: Gate) -> Iterator[Stack]:
    """One product for this module, on a cluster and services that nobody else uses."""
    home = tmp_path_factory.mktemp("sudden-death")
    own = venv_home() / f"sudden-death-{os.getpid()}"
    cluster = testing.bring_up(own / "cluster", "--node-roots", "--nodes", str(NODES), *SETTINGS)
    services = testing.bring_up_services(own / "services")
    stack = Stack(home / "hub", cluster, services, venv_home(), database="sudden_death")
    stack.login_path = str(gate.directory)
    stack.open_site()
    stack.django(
        "from fleet.models import Site\nSite.objects.update(queue_ahead=20)\nanswer = None"
    )
    yield stack
    stack.stop()
    for directory in (own / "cluster", own / "services"):
        testing.command("wipe", str(directory))


class Watched:
    """A job of a hundred runs, counted in the database itself: quick enough to catch a moment."""

    def __init__(self, stack: Stack) -> None:
        self.stack = stack
        self.workloads_before = self.workloads()
        self.job_id = stack.start_job(stack.cluster.node_names, HELLOS)

    def count(self, where: str) -> int:
        url = self.stack.services.database_url(self.stack.database)
        with psycopg.connect(url) as connection:
            query = f"SELECT count(*) FROM burnin_testrun WHERE job_id = %s AND {where}"
            row = connection.execute(query.encode(), (self.job_id,)).fetchone()
        assert row is not None
        return int(row[0])

    def catch(self, holds: Callable[[], object], what: str) -> None:
        """Return at the very moment it holds."""
        deadline = time.monotonic() + 120
        while not holds():
            assert time.monotonic() < deadline, f"never seen: {what}"

    def workloads(self) -> int:
        """How many attempts ever got as far as their workload, by what they left on the site."""
        return len(list((self.stack.work_dir / "attempts").glob("*/started.json")))

    def slurm_jobs(self, runs: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return the names of the jobs that Slurm's accounting holds for these runs."""
        ours = {AttemptToken(run["id"], 1).job_name for run in runs}
        text = self.stack.cluster.run(*SACCT, timeout_s=60)
        return [line for line in text.splitlines() if line in ours]

    def prove_once_each(self) -> None:
        job = self.stack.wait_for_end(self.job_id, for_s=END_S)
        runs = self.stack.runs(self.job_id)
        assert job["verdict"] == "passed", [run for run in runs if run["verdict"] != "passed"][:3]
        assert job["counts"] == job["recount"] == {"1:passed": RUNS}
        assert len(runs) == RUNS
        assert all(run["results"] == 1 and run["attempts"] == 1 for run in runs)
        assert self.workloads() - self.workloads_before == RUNS
        # slurmdbd is told of a job a while after it ended.
        self.stack.wait(lambda: len(self.slurm_jobs(runs)) >= RUNS, "Slurm accounts for all jobs")
        assert len(self.slurm_jobs(runs)) == RUNS
        judged = "(SELECT count(*) FROM burnin_testrunevent e WHERE e.run_id = burnin_testrun.id"
        assert self.count(f"{judged} AND e.after = 'judged') = 1") == RUNS


@pytest.fixture
def watched(stack: Stack) -> Watched:
    return Watched(stack)


def test_the_satellite_dies_while_it_submits(stack: Stack, gate: Gate) -> None:
    gate.hold_after(HELD_AFTER)
    watched = Watched(stack)
    watched.catch(gate.is_holding, "some are submitted, some are not")
    stack.kill("satellite")
    gate.open()

    stack.start("satellite")

    watched.prove_once_each()


def test_the_hub_worker_dies_while_it_collects(stack: Stack, watched: Watched) -> None:
    collecting = "state = 'finished' AND carried_until > now()"
    watched.catch(lambda: watched.count(collecting) > 0, "finished runs are being collected")
    stack.kill("worker")
    assert watched.count("state <> 'judged'") > 0

    stack.start("worker")

    watched.prove_once_each()


def test_the_web_dies_while_facts_arrive(stack: Stack, gate: Gate) -> None:
    gate.hold_after(HELD_AFTER)
    watched = Watched(stack)
    known = "state IN ('submitted', 'running', 'finished', 'judged')"
    watched.catch(lambda: gate.is_holding() and watched.count(known), "some facts have arrived")
    stack.kill("web")
    gate.open()
    watched.catch(
        lambda: watched.workloads() - watched.workloads_before > HELD_AFTER,
        "runs start of which no fact can arrive",
    )
    assert watched.count("state NOT IN ('running', 'finished', 'judged')") > 0

    stack.start("web")

    watched.prove_once_each()


def is_just_heard_of(stack: Stack) -> bool:
    url = stack.services.database_url(stack.database)
    with psycopg.connect(url) as connection:
        query = "SELECT heartbeat_at > now() - interval '2 seconds' FROM fleet_site WHERE name = %s"
        return connection.execute(query, (stack.site,)).fetchone() == (True,)


def test_redis_dies_with_orders_in_its_queues(stack: Stack) -> None:
    # A job is taken as long as its satellite has been heard of, though it be dead.
    stack.wait(lambda: is_just_heard_of(stack), "the satellite is heard of")
    stack.kill("satellite", signal.SIGKILL)
    watched = Watched(stack)
    orders = f"site-{stack.site}:orders"
    stack.wait(lambda: int(stack.services.redis_cli("LLEN", orders)) > 0, "an order waits")
    (redis,) = stack.services.processes("redis-server")
    os.kill(redis.pid, signal.SIGKILL)
    assert watched.count("state = 'dispatched'") > 0

    stack.services.up_again()
    stack.start("satellite")
    stack.supervise()

    watched.prove_once_each()
