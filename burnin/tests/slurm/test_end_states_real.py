"""The ends that a job can come to, produced on a real cluster."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from burnin.slurm.client import SlurmClient
from burnin.slurm.cluster import JobSnapshot
from burnin.slurm.shell import LocalShell
from burnin.slurm.states import Meaning, Outcome, outcome_of
from burnin.tests.slurm.jobs import new_token, submission, until
from deploy.cluster.testing import RealCluster
from runner.contract.wire import AttemptToken

pytestmark = pytest.mark.cluster


def in_state(client: SlurmClient, token: AttemptToken, *states: str) -> JobSnapshot | None:
    jobs = client.observe().snapshots.get(token, [])
    return next((job for job in jobs if job.state in states), None)


def end_of(client: SlurmClient, token: AttemptToken, within_s: float = 20) -> JobSnapshot:
    def ended() -> JobSnapshot | None:
        jobs = client.observe().snapshots.get(token, [])
        return next((job for job in jobs if outcome_of(job.state, job.reason).final), None)

    return until(ended, within_s=within_s, what="the job to end")


@pytest.mark.parametrize(
    ("body", "state", "exit_code", "derived"),
    [
        ("true", "COMPLETED", "0:0", "0:0"),
        ("exit 3", "FAILED", "3:0", "0:0"),
        ("srun --mem=5 false; exit 0", "COMPLETED", "0:0", "1:0"),
        ("kill -9 $$", "FAILED", "0:9", "0:0"),
    ],
)
def test_a_job_that_ends_by_itself_is_judged_by_what_it_left(
    client: SlurmClient, body: str, state: str, exit_code: str, derived: str
) -> None:
    job = submission(new_token(), body)
    client.submit([job])

    ended = end_of(client, job.token)

    assert (ended.state, ended.exit_code, ended.derived_exit_code) == (state, exit_code, derived)
    assert outcome_of(ended.state, ended.reason).meaning is Meaning.JUDGE


def test_a_cancelled_job_says_so_to_squeue_and_to_accounting(
    client: SlurmClient, cluster: RealCluster
) -> None:
    job = submission(new_token(), "sleep 300")
    job_id = client.submit([job])[job.token].job_id
    until(lambda: in_state(client, job.token, "RUNNING"), what="the job to run")

    client.cancel([job_id])

    assert outcome_of(end_of(client, job.token).state).meaning is Meaning.CANCELLED
    accounted = until(
        lambda: in_accounting(client, job_id, job.token, "CANCELLED"), what="accounting"
    )
    assert accounted.source == "sacct"


def in_accounting(
    client: SlurmClient, job_id: str, token: AttemptToken, state: str
) -> JobSnapshot | None:
    found = client._accounted({job_id: token}).get(job_id)
    return found if found is not None and found.state == state else None


def test_a_job_that_can_never_start_pends_with_the_reason(client: SlurmClient) -> None:
    job = submission(new_token(), "true", "--nodes=50")
    job_id = client.submit([job])[job.token].job_id

    pending = until(lambda: in_state(client, job.token, "PENDING"), what="the job to pend")
    outcome = until(lambda: what_a_person_must_see(client, job.token), what="the reason")
    client.cancel([job_id])

    assert pending.exit_code is None
    assert "can never start" in outcome.sentence


def what_a_person_must_see(client: SlurmClient, token: AttemptToken) -> Outcome | None:
    [job] = client.observe().snapshots[token]
    outcome = outcome_of(job.state, job.reason)
    return outcome if outcome.needs_human else None


def test_a_dead_node_is_node_fail_and_an_overlong_job_is_timeout(
    start_cluster: Callable[..., RealCluster], tmp_path: Path
) -> None:
    cluster = start_cluster("--nodes", "2", "--no-accounting")
    client = SlurmClient(LocalShell(cluster.environment), work_dir=str(tmp_path))
    overlong = submission(new_token(), "sleep 600", "--nodelist=n1", "--time=1")
    stranded = submission(new_token(), "sleep 600", "--nodelist=n2", "--time=10")
    answers = client.submit([overlong, stranded])
    until(lambda: in_state(client, overlong.token, "RUNNING"), what="the first job to run")
    until(lambda: in_state(client, stranded.token, "RUNNING"), what="the second job to run")

    cluster.run("scontrol", "update", f"JobId={answers[overlong.token].job_id}", "EndTime=now")
    os.kill(cluster.slurmd("n2").pid, signal.SIGKILL)
    failed = end_of(client, stranded.token, within_s=60)
    timed_out = end_of(client, overlong.token, within_s=100)

    assert (failed.state, failed.node_list) == ("NODE_FAIL", "n2")
    assert (timed_out.state, timed_out.reason) == ("TIMEOUT", "TimeLimit")
    assert outcome_of(failed.state).meaning is Meaning.INCONCLUSIVE
    assert outcome_of(timed_out.state).meaning is Meaning.TIMED_OUT
    assert not client.nodes()["n2"].is_usable
