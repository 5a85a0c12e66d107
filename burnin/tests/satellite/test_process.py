"""The real worker in its own virtual environment, under its ACL, against the real cluster."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from burnin.satellite.config import SiteConfig
from burnin.satellite.messages import (
    CancelOrder,
    Heartbeat,
    LogPart,
    Message,
    NodesSeen,
    OfAttempt,
    TailOrder,
    TaskName,
)
from burnin.slurm.cluster import Submission
from burnin.tests.satellite import given
from burnin.tests.satellite.fake_hub import FakeHub
from burnin.tests.satellite.process import SatelliteProcess, environment, eventually, satellite_venv
from burnin.tests.slurm.jobs import new_token, submission

pytestmark = pytest.mark.cluster

Send = Callable[[str, Message], None]
Start = Callable[..., SatelliteProcess]


def key(job: Submission) -> tuple[str, int]:
    return job.token.run_id, job.token.attempt


def of_attempt(job: Submission) -> OfAttempt:
    return OfAttempt(run_id=job.token.run_id, attempt=job.token.attempt)


def states(hub: FakeHub, jobs: list[Submission]) -> list[str]:
    seen = hub.jobs()
    return [seen[key(job)].state if key(job) in seen else "" for job in jobs]


def test_a_satellite_needs_neither_django_nor_a_database_nor_a_store_client() -> None:
    python = satellite_venv() / "bin" / "python"
    forbidden = "('django', 'psycopg', 'boto3', 'rest_framework')"
    code = (
        "import burnin.satellite.app, burnin.satellite.tasks, importlib.util, sys\n"
        f"assert not [n for n in {forbidden} if n in sys.modules]\n"
        f"assert not [n for n in {forbidden} if importlib.util.find_spec(n)]\n"
        "ours = {n for n in sys.modules if n.split('.')[0] in ('burnin', 'fleet', 'runner')}\n"
        "kept = ('burnin.satellite', 'burnin.slurm', 'burnin.pulse', 'runner.contract')\n"
        "assert not {n for n in ours if '.' in n and not n.startswith(kept)}\n"
    )

    done = subprocess.run(
        [python, "-W", "error", "-c", code],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, "")


def test_five_hello_worlds_are_submitted_and_reported_to_their_end(
    hub: FakeHub, start_satellite: Start, send: Send, site: SiteConfig
) -> None:
    sha256 = hub.add_bundle(given.bundle()[1])
    jobs = [given.hello_world(site, sha256, new_token()) for _ in range(5)]
    satellite = start_satellite()

    send(TaskName.SUBMIT, given.submit_order(jobs, sha256))
    send(TaskName.SUBMIT, given.submit_order(jobs, sha256))  # the same order, delivered twice

    eventually(lambda: states(hub, jobs) == ["COMPLETED"] * 5, what=f"ends: {satellite.log}")
    answers = hub.answers()
    assert {answers[key(job)].answer for job in jobs} == {"accepted"}
    assert len({answers[key(job)].job_id for job in jobs}) == 5
    assert hub.bundle_requests == [sha256]
    assert next(fact for fact in hub.facts() if isinstance(fact, NodesSeen)).nodes
    heartbeats = [fact for fact in hub.facts() if isinstance(fact, Heartbeat)]
    assert (heartbeats[-1].login_host, heartbeats[-1].slurmctld) == ("", "")
    tasks = re.search(r"\[tasks\]\n(.*?)\n\n", satellite.log, re.DOTALL)
    assert tasks is not None
    assert set(re.findall(r"\. (\S+)", tasks[1])) == {
        value for name, value in vars(TaskName).items() if name.isupper()
    }
    assert satellite.stop() == 0
    assert "Traceback" not in satellite.log


def test_a_cancelled_job_ends_and_its_log_can_be_read_while_it_runs(
    hub: FakeHub, start_satellite: Start, send: Send
) -> None:
    sha256 = hub.add_bundle(b"any file will do")
    job = submission(new_token(), "echo hello > stdout.txt; sleep 300")
    start_satellite()

    send(TaskName.SUBMIT, given.submit_order([job], sha256))
    eventually(lambda: states(hub, [job]) == ["RUNNING"], what="the job to run")
    run_id, attempt = key(job)

    def tailed() -> list[LogPart]:
        order = TailOrder(run_id=run_id, attempt=attempt, name="stdout.txt", offset=1)
        send(TaskName.TAIL, order)
        return [part for part in hub.facts() if isinstance(part, LogPart) and part.content]

    parts = eventually(tailed, what="the log")
    send(TaskName.CANCEL, CancelOrder(attempts=(of_attempt(job),), reason="asked by a test"))
    eventually(lambda: states(hub, [job]) == ["CANCELLED"], what="the job to be cancelled")
    assert parts[0].content == b"ello\n"


def test_a_missing_or_wrong_site_file_is_told_in_one_sentence(tmp_path: Path) -> None:
    site_file = tmp_path / "east.toml"
    site_file.touch(mode=0o600)
    site_file.write_text('name = "east"\nwork_dir = "/srv/burnin"\n')
    satellite = SatelliteProcess(site_file)

    eventually(lambda: not satellite.is_alive, what="the satellite to give up")

    assert (
        satellite.log
        == f"satellite: the site file {site_file} has no [hub]: a satellite needs it\n"
    )
