"""Real clusters for tests, brought up by the very command that an operator types."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from deploy.cluster import layout, processes
from deploy.cluster.errors import ClusterError
from deploy.cluster.processes import Process

REPOSITORY = Path(__file__).resolve().parents[2]
COMMAND_S = 300
PREFIX = "fm-test-"  # then the pid of the pytest that owns the directory


@dataclass(frozen=True)
class RealCluster:
    """Where a running cluster is, for a test that talks to it."""

    directory: Path
    slurm_conf: Path
    work_dir: Path
    site_toml: Path
    local_toml: Path
    node_names: tuple[str, ...]
    ssh_host: str
    ssh_port: int
    ssh_user: str
    ssh_key_file: Path
    ssh_known_hosts: Path
    environment: dict[str, str]

    def run(self, *argv: str, timeout_s: float = 20) -> str:
        """Run a command on the login host; return its output, or raise what it said."""
        return processes.run(argv, _load(self.directory), timeout_s=timeout_s)

    def processes(self, name: str) -> list[Process]:
        """Return the live processes of this cluster by name: `slurmctld`, `slurmstepd`, `job`…"""
        return [one for one in processes.find(_load(self.directory)) if one.name == name]

    def slurmd(self, node_name: str) -> Process:
        """Return the slurmd of one node."""
        return next(one for one in self.processes("slurmd") if node_name in one.argv)


def _load(directory: Path) -> layout.Cluster:
    cluster = layout.load(directory)
    if cluster is None:
        raise ClusterError(f"there is no cluster in {directory}")
    return cluster


def command(*arguments: str) -> str:
    """Run `deploy/cluster …` and return what it says; what it refuses is raised in its words."""
    done = subprocess.run(
        [sys.executable, str(REPOSITORY / "deploy" / "cluster"), *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=COMMAND_S,
        check=False,
    )
    if done.returncode != 0:
        raise ClusterError(done.stderr.strip().removeprefix("cluster: "))
    return done.stdout


def bring_up(directory: Path, *options: str) -> RealCluster:
    """Bring a cluster up, or find it up, and return where it is."""
    command("up", str(directory), *options)
    cluster = _load(directory)
    document = json.loads((directory / "cluster.json").read_text())
    return RealCluster(
        directory=directory,
        slurm_conf=cluster.slurm_conf,
        work_dir=cluster.work_dir,
        site_toml=directory / "site.toml",
        local_toml=directory / "local.toml",
        node_names=cluster.node_names,
        ssh_host="127.0.0.1",
        ssh_port=cluster.ports.sshd,
        ssh_user=document["user"],
        ssh_key_file=cluster.ssh_directory / "user_key",
        ssh_known_hosts=cluster.ssh_directory / "known_hosts",
        environment=cluster.environment,
    )


def wipe_all(home: Path) -> None:
    """Wipe every cluster below a test session's directory, and the directory."""
    for record in home.glob("*/cluster.json"):
        command("wipe", str(record.parent))
    shutil.rmtree(home, ignore_errors=True)


def wipe_forsaken(temporary: Path) -> None:
    """Wipe the clusters of test sessions that were killed before they could."""
    for home in temporary.glob(f"{PREFIX}*"):
        with suppress(ClusterError, OSError):  # another session may be wiping it too
            if _is_forsaken(home):
                wipe_all(home)


def _is_forsaken(home: Path) -> bool:
    pid = home.name.removeprefix(PREFIX)
    ours = home.stat().st_uid == os.geteuid()
    return ours and pid.isdecimal() and not Path("/proc", pid).exists()
