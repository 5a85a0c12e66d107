"""The private Slurm of this one machine: planned anew at each start, watched, ended with it."""

import getpass
import socket
from pathlib import Path

from deploy.cluster import layout, lifecycle, ports, processes
from deploy.cluster.layout import Cluster, Options, write_whole
from deploy.one_machine import machine
from deploy.one_machine.place import JOB_MARK, MARK

PARTITION = "main"
# The supervisor's death asks its Slurm to end; setpriv becomes the daemon that is named after it.
# Not KILL: slurmctld writes down new jobs only after seconds, and would give their ids away again.
TETHER = ("setpriv", "--pdeathsig", "TERM", "--")


def plan(home: Path, *, memory_mib: int, token: str) -> Cluster:
    """Return the Slurm of this directory, sized as the machine is now. Nothing of it may run.

    Its state survives other ports, another size and another host name.
    """
    known = layout.load(home)
    options = Options(
        nodes=1,
        node_name=machine.node_name(socket.gethostname()),
        cpus=machine.cpu_count(),
        memory_mb=memory_mib,
        partitions=(PARTITION,),
        settings=_settings(home),
        accounting=False,
        login=False,
    )
    run_directory = known.run_directory if known else layout.choose_run_directory(home)
    marks = ((MARK, token),)
    chosen = ports.choose(options, home)
    return Cluster(home, run_directory, options, chosen, TETHER, marks)


def _settings(home: Path) -> tuple[str, ...]:
    return (
        "ClusterName=one-machine",  # the usual one names a port, and state is kept by name
        "KillWait=3",  # Ctrl-C has ten seconds in all
        f"TaskProlog={_prolog(home)}",
    )


def _prolog(home: Path) -> Path:
    return home / "task-prolog.sh"


def start(cluster: Cluster) -> list[str]:
    """Start what does not run, and return its names."""
    write_whole(_prolog(cluster.directory), _marking(cluster), mode=0o755)
    with lifecycle.exclusive(cluster.directory):
        started = lifecycle.up_daemons(cluster)
        if "slurmctld" in started:
            # Of jobs that died with an earlier start Slurm would say that the node failed.
            cancel_all(cluster)
        return started + lifecycle.up_nodes(cluster)


def _marking(cluster: Cluster) -> str:
    return f"#!/bin/sh\necho export {JOB_MARK}={dict(cluster.marks)[MARK]}\n"


def cancel_all(cluster: Cluster) -> None:
    """End every job; none is anybody else's."""
    processes.run(["scancel", "--user", getpass.getuser()], cluster, timeout_s=5)


def daemons(cluster: Cluster) -> frozenset[int]:
    """Return the pids of the daemons that must run on."""
    wanted = {"munged", "slurmctld", "slurmd"}
    return frozenset(each.pid for each in processes.find(cluster) if each.name in wanted)
