"""slurm.conf and gres.conf of a cluster whose nodes all live on this host."""

import getpass
import socket

from deploy.cluster.layout import Cluster, write_whole

LOOPBACK = "127.0.0.1"
# Chosen for tests: quick to schedule, quick to notice a dead node. `--set` overrides each.
SETTINGS = {
    "AuthType": "auth/munge",
    "ProctrackType": "proctrack/linuxproc",
    "TaskPlugin": "task/none",
    "MpiDefault": "none",
    "SelectType": "select/cons_tres",
    "SelectTypeParameters": "CR_CPU_Memory",
    "SchedulerParameters": (
        "sched_interval=1,batch_sched_delay=0,sched_min_interval=0,defer_batch,"
        "bf_interval=5,max_array_tasks=100000"
    ),
    "ReturnToService": "2",
    "JobRequeue": "1",
    "MinJobAge": "300",
    "MaxJobCount": "20000",
    "MaxArraySize": "100001",
    "SlurmdTimeout": "30",
    "SlurmctldTimeout": "30",
    "MessageTimeout": "10",
    "KillWait": "5",
    "TreeWidth": "65533",
    # The nodes share this host: each is what NodeName says, not what the host has.
    "SlurmdParameters": "config_overrides",
    "SlurmctldDebug": "info",
    "SlurmdDebug": "info",
}


def cluster_name(cluster: Cluster) -> str:
    return f"c{cluster.ports.slurmctld}"


def user_name() -> str:
    return getpass.getuser()


def write(cluster: Cluster) -> None:
    """Write the configuration, and the directories and device files it names."""
    for directory in (cluster.directory / "state", cluster.run_directory / "spool"):
        directory.mkdir(parents=True, exist_ok=True)
    _write_gpus(cluster)
    # Nothing here uses cgroups, yet slurmd looks for them, and the plugin it would pick fails where
    # there is no systemd (cgroup v2 in a container) or no /sys. This one asks for nothing.
    write_whole(cluster.directory / "cgroup.conf", "CgroupPlugin=cgroup/v1\n")
    write_whole(cluster.slurm_conf, render(cluster))


def _write_gpus(cluster: Cluster) -> None:
    """Give each fake GPU a device file: slurmd counts those, and drains a node with too few."""
    devices = cluster.run_directory / "gpus"
    devices.mkdir(exist_ok=True)
    for number in range(cluster.options.gpus):
        link = devices / f"gpu{number}"
        if not link.is_symlink():
            link.symlink_to("/dev/null")  # a regular file would leave CUDA_VISIBLE_DEVICES unset
    last = cluster.options.gpus - 1
    line = f"Name=gpu File={devices}/gpu[0-{last}]\n" if cluster.options.gpus else ""
    write_whole(cluster.directory / "gres.conf", line)


def render(cluster: Cluster) -> str:
    """Return slurm.conf as text."""
    asked = dict(setting.split("=", 1) for setting in cluster.options.settings)
    settings = _identity(cluster) | SETTINGS | _listening() | _accounting(cluster) | asked
    lines = [f"{name}={value}" for name, value in settings.items()]
    return "\n".join([*lines, _nodes(cluster), *_partitions(cluster)]) + "\n"


def _identity(cluster: Cluster) -> dict[str, str]:
    return {
        "ClusterName": cluster_name(cluster),
        "SlurmctldHost": f"{_host()}({LOOPBACK})",
        "SlurmctldPort": str(cluster.ports.slurmctld),
        "SlurmUser": user_name(),
        "SlurmdUser": user_name(),
        "AuthInfo": f"socket={cluster.munge_socket}",
        "StateSaveLocation": f"{cluster.directory}/state",
        "SlurmdSpoolDir": f"{cluster.run_directory}/spool/%n",
        "SlurmctldLogFile": f"{cluster.log_directory}/slurmctld.log",
        "SlurmdLogFile": f"{cluster.log_directory}/slurmd-%n.log",
        "SlurmctldPidFile": f"{cluster.run_directory}/slurmctld.pid",
        "SlurmdPidFile": f"{cluster.run_directory}/slurmd-%n.pid",
        "GresTypes": "gpu",
    }


def _host() -> str:
    return socket.gethostname().partition(".")[0]


def _listening() -> dict[str, str]:
    """Keep to loopback where that can be said.

    A Slurm daemon listens everywhere, or on the address that its host's name stands for: on most
    machines, and in every container, another one than 127.0.0.1, at which srun would be looked for.
    """
    try:
        address = socket.gethostbyname(socket.gethostname())
    except OSError:
        return {}
    keeping = {"CommunicationParameters": "NoInAddrAny,NoCtldInAddrAny"}
    return keeping if address == LOOPBACK else {}


def _accounting(cluster: Cluster) -> dict[str, str]:
    if not cluster.options.accounting:
        return {}
    return {
        "AccountingStorageType": "accounting_storage/slurmdbd",
        "AccountingStorageHost": "127.0.0.1",
        "AccountingStoragePort": str(cluster.ports.slurmdbd),
        "AccountingStoragePass": str(cluster.munge_socket),
        "AccountingStorageTRES": "gres/gpu",
        "AccountingStoreFlags": "job_comment",
        "JobAcctGatherType": "jobacct_gather/linux",
        "JobAcctGatherFrequency": "10",
    }


def _nodes(cluster: Cluster) -> str:
    options, first = cluster.options, cluster.ports.first_slurmd
    names = options.node_name or f"n[1-{options.nodes}]"
    ports = str(first) if options.node_name else f"[{first}-{first + options.nodes - 1}]"
    gpus = f" Gres=gpu:{options.gpus}" if options.gpus else ""
    return (
        f"NodeName={names} NodeHostname={_host()} NodeAddr={LOOPBACK} Port={ports}"
        f" CPUs={options.cpus} RealMemory={options.memory_mb}{gpus} State=UNKNOWN"
    )


def _partitions(cluster: Cluster) -> list[str]:
    """Write each partition; every one holds all nodes, and the first is the default."""
    lines = []
    for position, partition in enumerate(cluster.options.partitions):
        name, _, extra = partition.partition(":")
        default = "NO" if position else "YES"
        ours = f"PartitionName={name} Nodes=ALL Default={default} MaxTime=INFINITE OverSubscribe=NO"
        lines.append(f"{ours} {extra.replace(',', ' ')}".rstrip())
    return lines
