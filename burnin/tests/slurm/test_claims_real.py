"""One workload per token, whatever dies: sbatch made slow, the shell killed, Slurm stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from burnin.slurm import claims, login_host
from burnin.slurm.claims import Adopt, AskAgain, Unresolved
from burnin.slurm.client import SlurmClient, _tar
from burnin.slurm.cluster import Answer, Submission
from burnin.slurm.shell import LocalShell
from burnin.tests.slurm.jobs import new_token, submission, until
from deploy.cluster.testing import RealCluster
from runner.contract.wire import AttemptToken

pytestmark = pytest.mark.cluster

SLOW_SBATCH = """#!/bin/bash
sleep {before}
/usr/bin/sbatch "$@"
status=$?
sleep {after}
exit $status
"""
GATED_SBATCH = """#!/bin/bash
wait_for() {{ for _ in $(seq 400); do [ -e {gate}/$1 ] && return; sleep 0.05; done; exit 99; }}
touch {gate}/entered
wait_for before
/usr/bin/sbatch "$@"
status=$?
touch {gate}/called
wait_for after
exit $status
"""


def wrapped(cluster: RealCluster, directory: Path, sbatch: str) -> dict[str, str]:
    """Return an environment in which `sbatch` is the given script."""
    directory.mkdir()
    (directory / "sbatch").write_text(sbatch)
    (directory / "sbatch").chmod(0o755)
    return {**cluster.environment, "PATH": f"{directory}:/usr/bin:/bin"}


def start_login_host(
    work_dir: Path, batch: list[Submission], environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    """Start what a client runs on the login host, in a process group that a test can kill."""
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", login_host.__file__, "submit", str(work_dir), "0"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=environment,
        start_new_session=True,
    )
    assert process.stdin is not None
    process.stdin.write(_tar(batch))
    process.stdin.close()
    return process


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
    killed = start_login_host(tmp_path, [job], environment)
    until((gate / moment).exists, what=f"sbatch to have {moment}")

    killed.kill()
    killed.wait()
    meanwhile = client.submit([job])[job.token]
    again = client.submit([job], resubmit=frozenset({job.token}))[job.token]
    (gate / "before").touch()
    (gate / "after").touch()
    found = until(lambda: accepted(client, job), what="the id that sbatch left")

    assert meanwhile.kind is again.kind is Answer.UNKNOWN
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
        killed = start_login_host(tmp_path, [job], {**os.environ, **cluster.environment})
        until(lambda: request_waits(cluster), what="the request to reach slurmctld's socket")
        os.killpg(killed.pid, signal.SIGKILL)
        killed.wait()

    answer = client.submit([job])[job.token]
    in_doubt = Unresolved(job.token, asked_at, datetime.now(UTC))
    job_id = settle(client, in_doubt, job)

    assert answer.kind is Answer.UNKNOWN
    assert facts.message_timeout_s == 3
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
    killed = start_login_host(tmp_path, [job], environment)
    until((gate / "entered").exists, what="sbatch to be called")
    os.killpg(killed.pid, signal.SIGKILL)
    killed.wait()

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


@contextmanager
def stopped(cluster: RealCluster) -> Iterator[None]:
    """Stop slurmctld, and the process it has for scripts, for the length of the block."""
    controllers = [process.pid for process in cluster.processes("slurmctld")]
    for pid in controllers:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for pid in controllers:
            os.kill(pid, signal.SIGCONT)


def request_waits(cluster: RealCluster) -> bool:
    """Say whether bytes lie unread in a socket of the stopped controller."""
    conf = dict(
        line.split("=", 1) for line in cluster.slurm_conf.read_text().splitlines() if "=" in line
    )
    port = f":{int(conf['SlurmctldPort']):04X}"
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        _, local, _, state, queues = line.split()[:5]
        if local.endswith(port) and state in ("01", "08") and int(queues.split(":")[1], 16):
            return True
    return False
