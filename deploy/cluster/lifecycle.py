"""Bring a cluster up from whatever state it is in, and down to nothing."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from deploy.cluster import (
    accounting,
    layout,
    munge,
    node_roots,
    ports,
    postgres,
    processes,
    redis,
    s3,
    service_files,
    site_files,
    slurm,
    slurm_conf,
    sshd,
)
from deploy.cluster.errors import ClusterError
from deploy.cluster.layout import SERVICES, SLURM, Cluster, Options
from deploy.cluster.processes import JOB, REMOTE_COMMAND, Process

LOCK_S = 300
# Who goes first: nothing may start new work, lose what another still writes, or outlive its master.
WAVES = (
    ({"slurmctld", "sshd"}, 20.0),
    ({"slurmd", "slurmstepd", JOB, REMOTE_COMMAND}, 1.0),
    ({"slurmdbd"}, 10.0),
    ({"mariadbd"}, 30.0),
    ({"munged", "redis-server", "rclone"}, 5.0),
    ({"postgres"}, 20.0),
)


@contextmanager
def exclusive(directory: Path) -> Iterator[None]:
    """Let one command at a time work on this directory."""
    try:
        lock = (directory / "lock").open("w")
    except OSError as error:
        raise ClusterError(f"cannot write {directory}: {error.strerror}") from error
    with lock:
        if not processes.wait_until(lambda: _locked(lock.fileno()), timeout_s=LOCK_S):
            raise ClusterError(f"another command still works on {directory}; try again later")
        yield


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def plan(directory: Path, asked: dict[str, Any]) -> Cluster:
    """Return the cluster of this directory; a new one with the asked options if there is none."""
    known = layout.load(directory)
    if known is None:
        options = Options(**asked)
        chosen = ports.choose(options)
        return Cluster(directory, layout.choose_run_directory(directory), options, chosen)
    differing = {
        name: value for name, value in asked.items() if getattr(known.options, name) != value
    }
    if differing:
        replace(known.options, **differing)  # what is malformed is refused as such
        raise ClusterError(
            f"{directory} already holds a cluster with other options"
            f" ({', '.join(sorted(differing))}); `wipe` it first, or name another directory"
        )
    return known


def up(cluster: Cluster) -> list[str]:
    """Start whatever does not run, and return its names; an empty list means all of it ran."""
    cluster.run_directory.mkdir(mode=0o755, exist_ok=True)
    cluster.log_directory.mkdir(exist_ok=True)
    cluster.save()
    if SERVICES in cluster.options.parts:
        service_files.write(cluster)
    if SLURM in cluster.options.parts:
        _write_slurm_files(cluster)
    started = [name for name in _daemons(cluster) if _ensure(cluster, name)]
    if SLURM in cluster.options.parts:
        started += _ensure_nodes(cluster)
    return started


def _write_slurm_files(cluster: Cluster) -> None:
    slurm_conf.write(cluster)
    site_files.write(cluster)
    if cluster.options.node_roots:
        node_roots.write(cluster)


def _daemons(cluster: Cluster) -> dict[str, Any]:
    """Return name → (is it well, start it), in the order in which each needs the one before."""
    parts = cluster.options.parts
    return (_hub_services() if SERVICES in parts else {}) | (
        _slurm_daemons(cluster) if SLURM in parts else {}
    )


def _hub_services() -> dict[str, Any]:
    return {
        "redis-server": (redis.answers, redis.start),
        "postgres": (postgres.answers, postgres.start),
        "rclone": (s3.answers, s3.start),
    }


def _slurm_daemons(cluster: Cluster) -> dict[str, Any]:
    daemons = {"munged": (munge.answers, munge.start)}
    if cluster.options.accounting:
        daemons["mariadbd"] = (accounting.database_answers, accounting.start_database)
        daemons["slurmdbd"] = (accounting.answers, accounting.start)
    daemons["slurmctld"] = (slurm.controller_answers, slurm.start_controller)
    daemons["sshd"] = (sshd.answers, sshd.start)
    return daemons


def _ensure(cluster: Cluster, name: str) -> bool:
    """Start the service unless one of ours is well; return whether it had to be started.

    A port that answers proves nothing by itself: it must be a process of this cluster.
    """
    answers, start = _daemons(cluster)[name]
    remains = [process for process in processes.find(cluster) if process.name == name]
    if remains and answers(cluster):
        return False
    processes.end(remains, grace_s=5)
    start(cluster)
    return True


def _ensure_nodes(cluster: Cluster) -> list[str]:
    running = slurm.nodes_with_slurmd(cluster, processes.find(cluster))
    missing = [name for name in cluster.node_names if name not in running]
    slurm.await_nodes(cluster, slurm.start_nodes(cluster, missing))
    return [f"slurmd {name}" for name in missing]


def down(cluster: Cluster) -> list[Process]:
    """End every process of the cluster, its jobs' too, and return those that were there."""
    ended = processes.find(cluster)
    for names, grace_s in WAVES:
        known = {*ended, *processes.find(cluster)}  # what has lost its parent is known by the first
        processes.end([one for one in known if one.name in names], grace_s=grace_s)
    left = processes.find(cluster)
    if left:
        pids = ", ".join(str(process.pid) for process in left)
        raise ClusterError(f"processes of {cluster.directory} are still there: {pids}")
    return ended
