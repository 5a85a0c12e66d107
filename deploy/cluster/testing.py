"""Real clusters for tests, brought up by the very command that an operator types."""

import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from deploy.cluster import layout, ports, postgres, processes, redis, service_files
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


@dataclass(frozen=True)
class RealServices:
    """Where Redis, PostgreSQL and S3 are, for a test that talks to them."""

    directory: Path
    redis_url: str  # the hub's user, who may do everything
    postgres_url: str  # a superuser and a database of its own
    s3_endpoint: str
    s3_region: str
    s3_bucket: str
    s3_key_id: str
    s3_secret: str
    environment: dict[str, str]  # FLEET_… and AWS_… of a hub that uses all three

    def site_broker_url(self, site: str) -> str:
        """Make the site's Redis user, confined to the keys `site-<site>:*`, and return its URL."""
        return redis.allow_site(_load(self.directory), site)

    def database_url(self, name: str) -> str:
        """Make a database of this name if there is none, and return its URL."""
        postgres.ensure_database(_load(self.directory), name)
        return f"{self.postgres_url.rpartition('/')[0]}/{name}"

    def redis_cli(self, *words: str) -> str:
        """Run one Redis command as the hub's user."""
        return redis.command(_load(self.directory), *words)

    def processes(self, name: str) -> list[Process]:
        """Return the live processes by name: `redis-server`, `postgres`, `rclone`."""
        return [one for one in processes.find(_load(self.directory)) if one.name == name]

    def up_again(self) -> None:
        """Start what was killed, with what it held."""
        command("up", str(self.directory))


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
    _up(directory, *options)
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


def _up(directory: Path, *options: str) -> None:
    """Bring it up; a new one moves once if some other program was quicker to take a port."""
    is_new = layout.load(directory) is None
    try:
        command("up", str(directory), *options)
    except ClusterError as error:
        if not (is_new and ports.TAKEN in str(error)):
            raise
        command("wipe", str(directory))
        command("up", str(directory), *options)


def bring_up_services(directory: Path) -> RealServices:
    """Bring Redis, PostgreSQL and S3 up, or find them up, and return where they are."""
    _up(directory, "--only-services")
    cluster = _load(directory)
    known = service_files.credentials(cluster)
    environment = service_files.environment(cluster, known)
    return RealServices(
        directory=directory,
        redis_url=environment["FLEET_BROKER_URL"],
        postgres_url=environment["FLEET_DATABASE_URL"],
        s3_endpoint=environment["FLEET_S3_ENDPOINT"],
        s3_region=environment["FLEET_S3_REGION"],
        s3_bucket=service_files.BUCKET,
        s3_key_id=environment["AWS_ACCESS_KEY_ID"],
        s3_secret=environment["AWS_SECRET_ACCESS_KEY"],
        environment=environment,
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
