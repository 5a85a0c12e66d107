"""MariaDB on a private socket, and slurmdbd over it, so that sacct answers."""

import os
import secrets
import shutil
import socket
import subprocess

from deploy.cluster import ports, processes
from deploy.cluster.errors import ClusterError
from deploy.cluster.layout import Cluster, write_whole
from deploy.cluster.slurm_conf import cluster_name, user_name


def database_answers(cluster: Cluster) -> bool:
    """Return whether MariaDB greets a client of its socket."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(5)
        try:
            client.connect(str(cluster.database_socket))
            return bool(client.recv(1))
        except OSError:
            return False


def start_database(cluster: Cluster) -> None:
    """Start MariaDB, with a new database if there is none, and wait until it answers."""
    data = cluster.database_directory / "data"
    if not data.exists():
        _create_database(cluster)
    daemon = processes.start(_server(cluster), cluster, log="mariadbd.log")
    processes.await_ready("mariadbd", lambda: database_answers(cluster), cluster, daemon=daemon)


def _create_database(cluster: Cluster) -> None:
    """Create the data directory beside its place first: a torn one would never start."""
    home = cluster.database_directory
    torn = home / "data.new"
    shutil.rmtree(torn, ignore_errors=True)
    home.mkdir(mode=0o700, exist_ok=True)
    password = secrets.token_hex(16)
    write_whole(home / "password", password, mode=0o600)
    write_whole(home / "init.sql", _grants(password), mode=0o600)
    install = ["mariadb-install-db", "--no-defaults", f"--datadir={torn}", "--skip-test-db"]
    processes.run([*install, *_account(), _own_tmpdir(cluster)], cluster, timeout_s=120)
    torn.rename(home / "data")


def _account() -> list[str]:
    """MariaDB refuses to run as root unless it is told to."""
    return ["--user=root"] if os.geteuid() == 0 else []


def _own_tmpdir(cluster: Cluster) -> str:
    """MariaDB deletes at its start whatever lies in its tmpdir as another one's tables do."""
    return f"--tmpdir={cluster.database_directory}"


def _grants(password: str) -> str:
    return (
        "CREATE DATABASE IF NOT EXISTS slurm_acct_db;\n"
        f"CREATE OR REPLACE USER 'slurm'@'localhost' IDENTIFIED BY '{password}';\n"
        "GRANT ALL ON slurm_acct_db.* TO 'slurm'@'localhost';\n"
    )


def _server(cluster: Cluster) -> list[str]:
    home = cluster.database_directory
    return [
        "mariadbd",
        "--no-defaults",
        *_account(),
        _own_tmpdir(cluster),
        f"--datadir={home}/data",
        f"--socket={cluster.database_socket}",
        f"--pid-file={cluster.run_directory}/mariadbd.pid",
        f"--init-file={home}/init.sql",
        "--skip-networking",
        "--skip-log-bin",
        "--performance-schema=OFF",
        "--innodb-buffer-pool-size=64M",
        "--innodb-flush-log-at-trx-commit=2",
        "--innodb-lock-wait-timeout=900",
    ]


def answers(cluster: Cluster) -> bool:
    if ports.is_free(cluster.ports.slurmdbd):
        return False  # Slurm's clients would try again for ten seconds
    try:
        processes.run(["sacctmgr", "-nP", "show", "cluster"], cluster, timeout_s=10)
    except ClusterError:
        return False
    return True


def start(cluster: Cluster) -> None:
    """Start slurmdbd, wait until it answers, and make this cluster known to it."""
    ports.require_free(cluster.ports.slurmdbd, owner="slurmdbd")
    # slurmdbd reads the slurmdbd.conf beside SLURM_CONF, and refuses one that others can read.
    write_whole(cluster.directory / "slurmdbd.conf", _configuration(cluster), mode=0o600)
    daemon = _start_slurmdbd(cluster)
    processes.await_ready("slurmdbd", lambda: answers(cluster), cluster, daemon=daemon)
    name = cluster_name(cluster)
    known = processes.run(["sacctmgr", "-nP", "show", "cluster", "format=cluster"], cluster)
    if name not in known.split():
        processes.run(["sacctmgr", "-i", "add", "cluster", name], cluster)


def _start_slurmdbd(cluster: Cluster) -> "subprocess.Popen[bytes]":
    """Only this variable tells Slurm's MySQL plugin of a socket in an unusual place."""
    socket_variable = f"MYSQL_UNIX_PORT={cluster.database_socket}"
    return processes.start(["env", socket_variable, "slurmdbd", "-D"], cluster, log="slurmdbd.log")


def _configuration(cluster: Cluster) -> str:
    password = (cluster.database_directory / "password").read_text()
    return (
        "AuthType=auth/munge\n"
        f"AuthInfo=socket={cluster.munge_socket}\n"
        "DbdHost=localhost\n"
        "DbdAddr=127.0.0.1\n"
        f"DbdPort={cluster.ports.slurmdbd}\n"
        f"SlurmUser={user_name()}\n"
        f"PidFile={cluster.run_directory}/slurmdbd.pid\n"
        "StorageType=accounting_storage/mysql\n"
        "StorageHost=localhost\n"
        "StorageUser=slurm\n"
        f"StoragePass={password}\n"
        "StorageLoc=slurm_acct_db\n"
    )
