"""The two clusters that must behave alike."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from burnin.slurm.client import SlurmClient
from burnin.slurm.cluster import Cluster, JobSnapshot, Submission
from burnin.slurm.fake import FakeCluster, Workload
from burnin.slurm.shell import LocalShell
from burnin.tests.slurm.jobs import submission
from deploy.cluster.testing import RealCluster
from runner.contract.wire import AttemptToken


@dataclass(frozen=True)
class Site:
    """A cluster, a way to let time pass there, and jobs that do there what a test wants."""

    cluster: Cluster
    wait: Callable[[], None]
    job: Callable[[AttemptToken, str], Submission]

    def follow(self, token: AttemptToken, state: str) -> JobSnapshot:
        """Let time pass until the token's one job is in this state."""
        last = None
        for _ in range(200):
            jobs = self.cluster.observe().snapshots.get(token, [])
            last = jobs[0] if len(jobs) == 1 else None
            if last is not None and last.state == state:
                return last
            self.wait()
        raise AssertionError(f"the job did not become {state}: {last}")


BODIES = {
    "passes": "echo hello > stdout.txt; echo '{}' > metadata.json; echo x > context.bak",
    "fails": "exit 3",
    "hangs": "sleep 300",
}
WORKLOADS = {
    "passes": Workload(files={"stdout.txt": b"hello\n", "metadata.json": b"{}\n"}),
    "fails": Workload(state="FAILED", exit_code="3:0"),
    "hangs": Workload(duration_s=300),
}


@pytest.fixture(params=["fake", pytest.param("real", marks=pytest.mark.cluster)])
def site(request: pytest.FixtureRequest, tmp_path: Path) -> Site:
    if request.param == "fake":
        return fake_site()
    real: RealCluster = request.getfixturevalue("cluster")
    client = SlurmClient(LocalShell(real.environment), work_dir=str(tmp_path))
    return Site(
        client, lambda: time.sleep(0.1), lambda token, kind: submission(token, BODIES[kind])
    )


def fake_site() -> Site:
    cluster = FakeCluster()
    kinds: dict[AttemptToken, str] = {}

    def job(token: AttemptToken, kind: str) -> Submission:
        kinds[token] = kind
        return submission(token)

    cluster.workload_of = lambda wanted: WORKLOADS[kinds[wanted.token]]
    return Site(cluster, lambda: cluster.advance(0.3), job)
