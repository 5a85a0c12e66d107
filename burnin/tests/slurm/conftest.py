"""Ways to the test session's real cluster: on this machine, and over SSH."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from burnin.slurm.client import SlurmClient
from burnin.slurm.shell import LocalShell, SshShell
from deploy.cluster.testing import RealCluster


@pytest.fixture
def client(cluster: RealCluster, tmp_path: Path) -> SlurmClient:
    return SlurmClient(LocalShell(cluster.environment), work_dir=str(tmp_path))


@pytest.fixture
def ssh(cluster: RealCluster) -> Iterator[SshShell]:
    shell = SshShell(
        host=cluster.ssh_host,
        port=cluster.ssh_port,
        user=cluster.ssh_user,
        key_file=cluster.ssh_key_file,
        known_hosts=cluster.ssh_known_hosts,
        environment=cluster.environment,
    )
    yield shell
    shell.close()
