"""slurmctld and the slurmd of every virtual node."""

import subprocess
import time

from deploy.cluster import ports, processes
from deploy.cluster.errors import ClusterError
from deploy.cluster.layout import Cluster

READY_S = 60


def controller_answers(cluster: Cluster) -> bool:
    if ports.is_free(cluster.ports.slurmctld):
        return False  # Slurm's clients would try again for ten seconds
    try:
        return "UP" in processes.run(["scontrol", "ping"], cluster, timeout_s=5)
    except ClusterError:
        return False


def start_controller(cluster: Cluster) -> None:
    """Start slurmctld in the foreground of its own session: forked, it would die unseen."""
    ports.require_free(cluster.ports.slurmctld, owner="slurmctld")
    command = ["slurmctld", "-D", "-f", str(cluster.slurm_conf)]
    daemon = processes.start(command, cluster, log="slurmctld.out")
    processes.await_ready("slurmctld", lambda: controller_answers(cluster), cluster, daemon=daemon)


def nodes_with_slurmd(cluster: Cluster, found: list[processes.Process]) -> set[str]:
    """Return the names of the nodes whose slurmd runs, read off its `-N` argument."""
    return {
        process.argv[process.argv.index("-N") + 1]
        for process in found
        if process.name == "slurmd" and "-N" in process.argv[:-1]
    }


Daemons = dict[str, subprocess.Popen[bytes]]


def start_nodes(cluster: Cluster, names: list[str]) -> Daemons:
    """Start these nodes' slurmd all at once, and return them by node name."""
    for name in names:
        port = cluster.ports.first_slurmd + cluster.node_names.index(name)
        ports.require_free(port, owner=f"slurmd {name}")
    command = ["slurmd", "-D", "-f", str(cluster.slurm_conf), "-N"]
    return {
        name: processes.start([*command, name], cluster, log=f"slurmd-{name}.out") for name in names
    }


def await_nodes(cluster: Cluster, started: Daemons) -> None:
    """Wait until slurmctld has heard from every node; drained ones may stay drained."""
    give_up = time.monotonic() + READY_S
    while silent := _silent_nodes(cluster):
        ended = any(name in started and started[name].poll() is not None for name in silent)
        if ended or time.monotonic() > give_up:
            words = processes.last_words(cluster, f"slurmd-{silent[0]}")
            raise ClusterError(f"{len(silent)} nodes do not answer, first {silent[0]}: {words}")
        time.sleep(0.1)


def _silent_nodes(cluster: Cluster) -> list[str]:
    text = processes.run(["sinfo", "-h", "-N", "-o", "%N %T", "-p", _default(cluster)], cluster)
    states = dict(line.split() for line in text.splitlines())
    heard = {name for name, state in states.items() if not _is_silent(state)}
    return [name for name in cluster.node_names if name not in heard]


def _default(cluster: Cluster) -> str:
    return cluster.options.partitions[0].partition(":")[0]


def _is_silent(state: str) -> bool:
    """A trailing `*` is Slurm's own mark for a node that does not answer."""
    return state.endswith("*") or state.startswith(("unk", "down"))
