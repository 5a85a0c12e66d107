"""The cluster's own munged: its key and its socket are nobody else's."""

import secrets

from deploy.cluster import processes
from deploy.cluster.errors import ClusterError
from deploy.cluster.layout import Cluster


def answers(cluster: Cluster) -> bool:
    try:
        processes.run(["munge", "-n", "-S", str(cluster.munge_socket)], cluster, timeout_s=5)
    except ClusterError:
        return False
    return True


def start(cluster: Cluster) -> None:
    """Start munged and wait until it answers."""
    key = cluster.run_directory / "munge.key"
    if not key.exists():
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(128))
    daemon = processes.start(_command(cluster), cluster, log="munged.log")
    processes.await_ready("munged", lambda: answers(cluster), cluster, daemon=daemon)


def _command(cluster: Cluster) -> list[str]:
    # --force: a checkout's parents may be group-writable, and a crash leaves a lock and a socket.
    return [
        "munged",
        "--foreground",
        "--force",
        "--num-threads=4",
        f"--key-file={cluster.run_directory}/munge.key",
        f"--socket={cluster.munge_socket}",
        f"--pid-file={cluster.run_directory}/munged.pid",
        f"--log-file={cluster.log_directory}/munged.log",
        f"--seed-file={cluster.run_directory}/munged.seed",
    ]
