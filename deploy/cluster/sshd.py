"""The login host's door: a private sshd with its own host key, and one key that opens it."""

import shlex
import socket
import time
from pathlib import Path

from deploy.cluster import ports, processes
from deploy.cluster.errors import ClusterError
from deploy.cluster.layout import Cluster, write_whole
from deploy.cluster.slurm_conf import user_name


def answers(cluster: Cluster) -> bool:
    """Return whether an SSH server greets us on the cluster's port."""
    try:
        address = ("127.0.0.1", cluster.ports.sshd)
        with socket.create_connection(address, timeout=5) as client:
            return client.recv(4) == b"SSH-"
    except OSError:
        return False


def start(cluster: Cluster) -> None:
    """Start sshd, then log in once with the pinned host key to prove that it lets us in."""
    ports.require_free(cluster.ports.sshd, owner="sshd")
    _write_keys(cluster)
    home = cluster.ssh_directory
    write_whole(home / "sshd_config", _configuration(cluster))
    command = ["/usr/sbin/sshd", "-D", "-f", f"{home}/sshd_config", "-E"]
    log = f"{cluster.log_directory}/sshd.log"
    daemon = processes.start([*command, log], cluster, log="sshd.log")
    processes.await_ready("sshd", lambda: answers(cluster), cluster, daemon=daemon)
    _log_in(cluster)


def _write_keys(cluster: Cluster) -> None:
    home = cluster.ssh_directory
    home.mkdir(mode=0o700, exist_ok=True)
    (home / "home").mkdir(mode=0o700, exist_ok=True)
    for name in ("host_key", "user_key"):
        if not (home / name).exists():
            keygen = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f"]
            processes.run([*keygen, str(home / name)], cluster)
    write_whole(home / "authorized_keys", (home / "user_key.pub").read_text(), mode=0o600)
    host_key = " ".join((home / "host_key.pub").read_text().split()[:2])
    write_whole(home / "known_hosts", f"[127.0.0.1]:{cluster.ports.sshd} {host_key}\n")
    if user_name() == "root":
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where sshd drops its privileges


def _configuration(cluster: Cluster) -> str:
    home = cluster.ssh_directory
    return (
        f"Port {cluster.ports.sshd}\n"
        "ListenAddress 127.0.0.1\n"
        f"HostKey {home}/host_key\n"
        f"AuthorizedKeysFile {home}/authorized_keys\n"
        f"PidFile {cluster.run_directory}/sshd.pid\n"
        f"AllowUsers {user_name()}\n"
        "AuthenticationMethods publickey\n"
        "PermitRootLogin prohibit-password\n"
        "StrictModes no\n"  # the directory may lie below one that others can write
        "UsePAM no\n"
        "MaxSessions 200\n"
        "MaxStartups 200\n"
        # Not the home of whoever runs this: what its ~/.bashrc does would be part of every command.
        f"SetEnv SLURM_CONF={cluster.slurm_conf} HOME={home}/home\n"
        "Subsystem sftp internal-sftp\n"
    )


def client_command(cluster: Cluster, *argv: str) -> list[str]:
    """Return the ssh command line that runs argv on the login host."""
    home = cluster.ssh_directory
    options = [
        "BatchMode=yes",
        "IdentitiesOnly=yes",
        "StrictHostKeyChecking=yes",
        f"UserKnownHostsFile={home}/known_hosts",
        f"ConnectTimeout={10}",
    ]
    flags = [flag for option in options for flag in ("-o", option)]
    target = ["-p", str(cluster.ports.sshd), f"{user_name()}@127.0.0.1"]
    return ["ssh", "-F", "none", "-i", f"{home}/user_key", *flags, *target, shlex.join(argv)]


def _log_in(cluster: Cluster) -> None:
    try:
        seen = processes.run(client_command(cluster, "printenv", "SLURM_CONF"), cluster)
    except ClusterError as error:
        time.sleep(0.1)  # sshd writes its reason after it has hung up
        raise ClusterError(f"{error}; {processes.last_words(cluster, 'sshd')}") from error
    if seen.strip() != str(cluster.slurm_conf):
        raise ClusterError(f"a login over SSH sees SLURM_CONF={seen.strip()!r}, not this cluster")
