"""One workload per token, whatever dies: sbatch made slow, the shell killed, Slurm stopped."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from burnin.slurm import claims
from burnin.slurm.claims import Adopt, AskAgain, Unresolved
from burnin.slurm.client import SlurmClient
from burnin.slurm.cluster import Answer, Submission
from burnin.slurm.shell import LocalShell
from burnin.tests.slurm.jobs import new_token, submission, until
from burnin.tests.slurm.trouble import (
    GATED_SBATCH,
    SLOW_SBATCH,
    LoginHost,
    controller_port,
    request_waits,
    routed_through,
    sbatch_calls,
    stopped,
    what_arrives,
    wrapped,
)
from deploy.cluster.testing import RealCluster
from runner.contract.wire import AttemptToken

pytestmark = pytest.mark.cluster


def ids_of(client: SlurmClient, token: AttemptToken) -> list[str]:
    return [job.job_id for job in client.observe().snapshots.get(token, [])]


def workloads(client: SlurmClient, token: AttemptToken) -> int:
    """Wait until every job of the token has ended; return how many of them really ran."""

    def all_ended() -> bool:
        jobs = client.observe().snapshots.get(token, [])
        return bool(jobs) and all(job.state == "COMPLETED" for job in jobs)

    until(all_ended, within_s=40, what="the jobs to end")
    return client.tail(token, "ran", offset=0, limit=1000).count(b"x")


@pytest.mark.parametrize(("before", "after"), [("0.3", "0"), ("0", "0.3")])
def test_two_concurrent_executions_of_a_batch_submit_each_job_once(
    cluster: RealCluster, tmp_path: Path, before: str, after: str
) -> None:
    slow = SLOW_SBATCH.format(before=before, after=after)
    shell = LocalShell(wrapped(cluster, tmp_path / "bin", slow))
    client = SlurmClient(shell, work_dir=str(tmp_path / "work"))
    batch = [submission(new_token()) for _ in range(3)]

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(client.submit, [batch] * 3))
    answers = client.submit(batch)

    for job in batch:
        assert answers[job.token].kind is Answer.ACCEPTED
        assert ids_of(client, job.token) == [answers[job.token].job_id]
        assert workloads(client, job.token) == 1


def test_two_concurrent_renewals_of_a_doubtful_submission_submit_it_once(
    cluster: RealCluster, client: SlurmClient, tmp_path: Path
) -> None:
    environment = wrapped(cluster, tmp_path / "bin", SLOW_SBATCH.format(before=1, after=0))
    job = submission(new_token())
    killed = LoginHost(tmp_path, job, environment)
    claim = tmp_path / "attempts" / job.token.directory
    until((claim / "sbatch.out").exists, what="sbatch to be called")
    killed.kill_all()

    renewal = ("0", job.token.directory)
    racing = [LoginHost(tmp_path, job, environment, *renewal) for _ in range(2)]
    kinds = sorted(process.kind_of_answer() for process in racing)

    assert kinds == ["accepted", "unknown"]
    assert ids_of(client, job.token) == [client.submit([job])[job.token].job_id]
    assert workloads(client, job.token) == 1


@pytest.mark.parametrize("moment", ["entered", "called"])
def test_a_shell_killed_around_sbatch_leaves_a_job_that_is_found_and_not_doubled(
    cluster: RealCluster, client: SlurmClient, tmp_path: Path, moment: str
) -> None:
    gate = tmp_path / "gate"
    gate.mkdir()
    environment = wrapped(cluster, tmp_path / "bin", GATED_SBATCH.format(gate=gate))
    job = submission(new_token())
    if moment == "called":
        (gate / "before").touch()
    killed = LoginHost(tmp_path, job, environment)
    until((gate / moment).exists, what=f"sbatch to have {moment}")

    killed.kill()
    hasty = LoginHost(tmp_path, job, environment, "0", job.token.directory)
    until(lambda: hasty.has_ended or sbatch_calls(gate) > 1, what="the second submit")
    (gate / "before").touch()
    (gate / "after").touch()
    found = until(lambda: accepted(client, job), what="the id that sbatch left")

    assert hasty.kind_of_answer() == "unknown"
    assert sbatch_calls(gate) == 1
    assert ids_of(client, job.token) == [found]
    assert workloads(client, job.token) == 1


def accepted(client: SlurmClient, job: Submission) -> str | None:
    answer = client.submit([job])[job.token]
    return answer.job_id if answer.kind is Answer.ACCEPTED else None


def test_a_submission_in_flight_to_a_stopped_controller_is_adopted_and_not_doubled(
    start_cluster: Callable[..., RealCluster], tmp_path: Path
) -> None:
    cluster = start_cluster("--nodes", "1", "--set", "MessageTimeout=3", "--no-accounting")
    client = SlurmClient(LocalShell(cluster.environment), work_dir=str(tmp_path))
    facts = client.facts()
    job = submission(new_token())
    asked_at = datetime.now(UTC)
    with stopped(cluster):
        killed = LoginHost(tmp_path, job, {**os.environ, **cluster.environment})
        until(lambda: request_waits(cluster), what="the request to reach slurmctld's socket")
        killed.kill_all()
        renewal = (str(facts.message_timeout_s), job.token.directory)
        hasty = LoginHost(tmp_path, job, {**os.environ, **cluster.environment}, *renewal)
        until(lambda: hasty.has_ended or hasty.has_called_sbatch, what="the second submit")

    in_doubt = Unresolved(job.token, asked_at, datetime.now(UTC))
    job_id = settle(client, in_doubt, job)

    assert hasty.kind_of_answer() == "unknown"
    assert facts.message_timeout_s == 3
    assert ids_of(client, job.token) == [job_id]
    assert workloads(client, job.token) == 1


def test_a_request_that_the_network_delays_is_adopted_and_not_doubled(
    start_cluster: Callable[..., RealCluster], tmp_path: Path
) -> None:
    cluster = start_cluster("--nodes", "1", "--set", "MessageTimeout=3", "--no-accounting")
    client = SlurmClient(LocalShell(cluster.environment), work_dir=str(tmp_path))
    job = submission(new_token())
    asked_at = datetime.now(UTC)
    with socket.create_server(("127.0.0.1", 0)) as network:
        environment = routed_through(network, cluster, tmp_path)
        killed = LoginHost(tmp_path, job, environment)
        request = what_arrives(network)
        killed.kill_all()

    in_doubt = Unresolved(job.token, asked_at, datetime.now(UTC))
    first = claims.decide(in_doubt, client.observe(), client.facts())
    if first == AskAgain(job.token):
        LoginHost(tmp_path, job, cluster.environment, "0", job.token.directory).kind_of_answer()
    with socket.create_connection(("127.0.0.1", controller_port(cluster))) as controller:
        controller.sendall(request)
        controller.recv(1)
    job_id = settle(client, in_doubt, job)

    assert isinstance(first, claims.Wait)
    assert ids_of(client, job.token) == [job_id]
    assert workloads(client, job.token) == 1


def test_a_submission_that_never_left_is_asked_for_again_after_the_grace(
    start_cluster: Callable[..., RealCluster], tmp_path: Path
) -> None:
    cluster = start_cluster("--nodes", "1", "--set", "MessageTimeout=3", "--no-accounting")
    client = SlurmClient(LocalShell(cluster.environment), work_dir=str(tmp_path))
    gate = tmp_path / "gate"
    gate.mkdir()
    environment = wrapped(cluster, tmp_path / "bin", GATED_SBATCH.format(gate=gate))
    job = submission(new_token())
    asked_at = datetime.now(UTC)
    killed = LoginHost(tmp_path, job, environment)
    until((gate / "entered").exists, what="sbatch to be called")
    killed.kill_all()

    too_early = client.submit([job], resubmit=frozenset({job.token}))[job.token]
    job_id = settle(client, Unresolved(job.token, asked_at, datetime.now(UTC)), job)

    assert too_early.kind is Answer.UNKNOWN
    assert ids_of(client, job.token) == [job_id]
    assert workloads(client, job.token) == 1


def settle(client: SlurmClient, in_doubt: Unresolved, job: Submission) -> str:
    """Follow the grace rule to its end; return the job's id."""
    facts = client.facts()
    deadline = datetime.now(UTC) + timedelta(seconds=30)
    while datetime.now(UTC) < deadline:
        match claims.decide(in_doubt, client.observe(), facts):
            case Adopt(job_id, surplus):
                assert surplus == ()
                return job_id
            case AskAgain(token):
                return client.submit([job], resubmit=frozenset({token}))[token].job_id
            case claims.Wait(in_doubt):
                continue
            case claims.GiveUp(sentence):
                raise AssertionError(sentence)
    raise AssertionError("the grace did not end")
