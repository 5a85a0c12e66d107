"""Bring a cluster up from whatever state it is in, and down to nothing."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import IO, Any

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
    """Let one command at a time work on this directory. A `wipe` deletes the lock as well."""
    is_held = False
    while not is_held:
        with _lock(directory) as lock:
            if is_held := _is_there(lock.fileno(), directory / "lock"):
                yield


def _lock(directory: Path) -> IO[str]:
    """Return the lock's file, locked; by then it may be another one than has the name."""
    try:
        lock = (directory / "lock").open("w")
    except OSError as error:
        raise ClusterError(f"cannot write {directory}: {error.strerror}") from error
    if not processes.wait_until(lambda: _locked(lock.fileno()), timeout_s=LOCK_S):
        lock.close()
        raise ClusterError(f"another command still works on {directory}; try again later")
    return lock


def _is_there(descriptor: int, path: Path) -> bool:
    """Say whether this is still the file by that name, which others lock."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


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
        chosen = ports.choose(options, directory)
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
    return [*up_daemons(cluster), *up_nodes(cluster)]


def up_daemons(cluster: Cluster) -> list[str]:
    """Do as `up`, but for the nodes: jobs that ran when the cluster died can be ended first."""
    cluster.run_directory.mkdir(mode=0o755, exist_ok=True)
    cluster.log_directory.mkdir(exist_ok=True)
    cluster.save()
    if SERVICES in cluster.options.parts:
        service_files.write(cluster)
    if SLURM in cluster.options.parts:
        _write_slurm_files(cluster)
    return [name for name in _daemons(cluster) if _ensure(cluster, name)]


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
    if cluster.options.login:
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


def up_nodes(cluster: Cluster) -> list[str]:
    """Start the slurmd that do not run, and wait until Slurm has heard of every node."""
    if SLURM not in cluster.options.parts:
        return []
    running = slurm.nodes_with_slurmd(cluster, processes.find(cluster))
    missing = [name for name in cluster.node_names if name not in running]
    slurm.await_nodes(cluster, slurm.start_nodes(cluster, missing))
    return [f"slurmd {name}" for name in missing]


def down(cluster: Cluster, *, patience_s: float = 30.0) -> list[Process]:
    """End every process of the cluster, its jobs' too, and return those that were there.

    None gets more than `patience_s` between TERM and KILL.
    """
    ended = processes.find(cluster)
    for names, grace_s in WAVES:
        known = {*ended, *processes.find(cluster)}  # what has lost its parent is known by the first
        processes.end([one for one in known if one.name in names], grace_s=min(grace_s, patience_s))
    left = processes.find(cluster)
    if left:
        pids = ", ".join(str(process.pid) for process in left)
        raise ClusterError(f"processes of {cluster.directory} are still there: {pids}")
    return ended
