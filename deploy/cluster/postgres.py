"""The hub's database: a private PostgreSQL on loopback, with a password."""

import shutil
import tempfile
from pathlib import Path

from deploy.cluster import ports, processes, service_files
from deploy.cluster.errors import ClusterError
from deploy.cluster.layout import Cluster, write_whole

OWNER = "postgres"  # PostgreSQL refuses to run as root; Debian's package makes this user
PROGRAMS = Path("/usr/lib/postgresql")
SERVER = (
    "-clisten_addresses=127.0.0.1",
    "-cunix_socket_directories=",
    "-cmax_connections=200",
    # A commit is with the kernel before its answer, so kill -9 loses none; a power cut may.
    "-cfsync=off",
    "-cdynamic_shared_memory_type=mmap",  # /dev/shm would keep what a killed server leaves there
)


def answers(cluster: Cluster) -> bool:
    address = ["-h", "127.0.0.1", "-p", str(cluster.ports.postgres)]
    try:
        processes.run([_program("pg_isready"), "-q", *address], cluster, timeout_s=5)
    except ClusterError:
        return False
    return True


def start(cluster: Cluster) -> None:
    """Start PostgreSQL, with a new data directory if there is none, and wait until it answers."""
    ports.require_free(cluster.ports.postgres, owner="postgres")
    _prepare_directory(cluster)
    data = cluster.postgres_directory.resolve() / "data"
    if not data.exists():
        _create_data(cluster)
    _forget_killed_server(data)
    server = [_program("postgres"), "-D", str(data), "-p", str(cluster.ports.postgres), *SERVER]
    daemon = processes.start([*_as_owner(), *server], cluster, log="postgres.log")
    processes.await_ready("postgres", lambda: answers(cluster), cluster, daemon=daemon)
    ensure_database(cluster, service_files.DATABASE)


def _program(name: str) -> str:
    """Return the newest installed version's program."""
    found = sorted(PROGRAMS.glob(f"*/bin/{name}"), key=lambda path: int(path.parts[-3]))
    if not found:
        raise ClusterError(f"{name} is not below {PROGRAMS}; install Debian's `postgresql`")
    return str(found[-1])


def _as_owner() -> list[str]:
    if not service_files.runs_as_root():
        return []
    # PostgreSQL insists on entering the directory it is started from.
    return [
        "env",
        "--chdir=/",
        "setpriv",
        f"--reuid={OWNER}",
        f"--regid={OWNER}",
        "--init-groups",
        "--",
    ]


def _prepare_directory(cluster: Cluster) -> None:
    home = cluster.postgres_directory
    if home.exists():
        return
    home.unlink(missing_ok=True)  # a link whose target someone cleaned away
    if service_files.runs_as_root() and not _all_may_enter(cluster.services_directory):
        home.symlink_to(tempfile.mkdtemp(prefix="cluster-postgres-", dir="/tmp"))
    else:
        home.mkdir(mode=0o700)
    if service_files.runs_as_root():
        shutil.chown(home, OWNER, OWNER)


def _all_may_enter(directory: Path) -> bool:
    return all(step.stat().st_mode & 0o001 for step in (directory, *directory.parents))


def _forget_killed_server(data: Path) -> None:
    """Make the pid file of a server that was killed harmless; ours has ended before we get here.

    PostgreSQL takes a zombie, or whoever got the pid since, for a server that still runs.
    """
    lock = data / "postmaster.pid"
    if not lock.exists():
        return
    pid = lock.read_text().split()[0]
    if not processes.wait_until(lambda: not Path("/proc", pid).exists(), timeout_s=5):
        lock.unlink()


def _create_data(cluster: Cluster) -> None:
    """Create the data directory beside its place first: a torn one would never start."""
    home = cluster.postgres_directory.resolve()
    torn = home / "data.new"
    shutil.rmtree(torn, ignore_errors=True)
    password_file = home / "password"
    write_whole(password_file, service_files.credentials(cluster)["postgres"], mode=0o600)
    if service_files.runs_as_root():
        shutil.chown(password_file, OWNER, OWNER)
    options = ["--auth=scram-sha-256", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"]
    account = [f"--username={service_files.DATABASE}", f"--pwfile={password_file}"]
    command = [_program("initdb"), "-D", str(torn), *options, *account]
    processes.run([*_as_owner(), *command], cluster, timeout_s=120)
    password_file.unlink()
    torn.rename(home / "data")


def ensure_database(cluster: Cluster, name: str) -> None:
    """Create the database if there is none of this name."""
    known = query(cluster, "SELECT datname FROM pg_database")
    if name not in known.split():
        query(cluster, f'CREATE DATABASE "{name}"')


def query(cluster: Cluster, sql: str, *, database: str = "postgres") -> str:
    """Run one statement as the superuser and return its rows, a line each."""
    password = service_files.credentials(cluster)["postgres"]
    address = ["-h", "127.0.0.1", "-p", str(cluster.ports.postgres)]
    user = ["-U", service_files.DATABASE, "-d", database, "--no-password"]
    return processes.run(
        [
            _program("psql"),
            "-X",
            "-A",
            "-t",
            "-q",
            "-v",
            "ON_ERROR_STOP=1",
            *address,
            *user,
            "-c",
            sql,
        ],
        cluster,
        timeout_s=30,
        environment={"PGPASSWORD": password},
    )
