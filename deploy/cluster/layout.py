"""What a cluster is asked to be, and where everything of it lies."""

import getpass
import json
import os
import re
import shutil
import tempfile
from collections.abc import Collection
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from deploy.cluster.errors import ClusterError

MAX_NODES = 512
# A Unix socket's path ends at 107 bytes; slurmstepd's is `<spool>/n512/n512_1234567.4294967291`.
MAX_DIRECTORY = 60
PLAIN_PATH = re.compile(r"/[A-Za-z0-9/._+-]*")  # slurm.conf has no way to quote anything else
PARTITION = re.compile(r"[A-Za-z][\w-]*(:\w+=[\w.=,-]+)?")
SETTING = re.compile(r"\w+=\S+")
NODE_NAME = re.compile(r"(?=.*[A-Za-z])[A-Za-z0-9][A-Za-z0-9-]{0,62}")
SLURM, SERVICES = "slurm", "services"
DIRECTORIES = ("database", "log", "roots", "run", "services", "ssh", "state", "work")
FILES = (
    *("cgroup.conf", "gres.conf", "slurm.conf", "slurmdbd.conf", "site.toml", "local.toml"),
    *("hub.env", "cluster.json", "lock"),  # the lock goes last: others wait for it
)


@dataclass(frozen=True)
class Options:
    """What `up` was asked for; a cluster keeps its options for life."""

    nodes: int = 8
    cpus: int = 4
    memory_mb: int = 2000
    gpus: int = 0
    partitions: tuple[str, ...] = ("main", "down:State=DOWN")
    settings: tuple[str, ...] = ()
    accounting: bool = True
    node_roots: bool = False
    first_port: int = 0  # 0: wherever there is room
    parts: tuple[str, ...] = (SLURM,)  # SERVICES: Redis, PostgreSQL and S3, for a hub
    node_name: str = ""  # of the only node; else n1, n2, …
    login: bool = True  # an sshd, as the door of a login host

    def __post_init__(self) -> None:
        _within("--nodes", self.nodes, low=1, high=MAX_NODES)
        _within("--cpus", self.cpus, low=1, high=1024)
        _within("--memory-mb", self.memory_mb, low=16, high=1 << 24)
        _within("--gpus", self.gpus, low=0, high=64)
        if self.first_port:
            _within("--first-port", self.first_port, low=1024, high=65000)
        if self.node_name:
            if self.nodes != 1:
                raise ClusterError("--node-name names the only node: give --nodes 1 with it")
            _all_match("--node-name", (self.node_name,), NODE_NAME)
        _all_match("--partition", self.partitions, PARTITION)
        _all_match("--set", self.settings, SETTING)


def _within(name: str, value: int, *, low: int, high: int) -> None:
    if not low <= value <= high:
        raise ClusterError(f"{name} must be between {low} and {high}, not {value}")


def _all_match(name: str, values: tuple[str, ...], pattern: re.Pattern[str]) -> None:
    for value in values:
        if not pattern.fullmatch(value):
            raise ClusterError(f"{name} {value!r} is malformed; see `python3 deploy/cluster up -h`")


@dataclass(frozen=True)
class Ports:
    slurmctld: int
    slurmdbd: int
    sshd: int
    first_slurmd: int
    redis: int = 0
    postgres: int = 0
    s3: int = 0


@dataclass(frozen=True)
class Cluster:
    """One cluster on disk. `run_directory` holds the sockets, so its path is always short.

    Who supervises the daemons says how they start: `wrapper` is a command that executes the one
    named after it, `marks` are variables that every daemon and command sees.
    """

    directory: Path
    run_directory: Path
    options: Options
    ports: Ports
    wrapper: tuple[str, ...] = ()
    marks: tuple[tuple[str, str], ...] = ()

    @property
    def node_names(self) -> tuple[str, ...]:
        if self.options.node_name:
            return (self.options.node_name,)
        return tuple(f"n{number}" for number in range(1, self.options.nodes + 1))

    @property
    def slurm_conf(self) -> Path:
        return self.directory / "slurm.conf"

    @property
    def log_directory(self) -> Path:
        return self.directory / "log"

    @property
    def work_dir(self) -> Path:
        return self.directory / "work"

    @property
    def roots_directory(self) -> Path:
        return self.directory / "roots"

    @property
    def ssh_directory(self) -> Path:
        return self.directory / "ssh"

    @property
    def database_directory(self) -> Path:
        return self.directory / "database"

    @property
    def services_directory(self) -> Path:
        return self.directory / "services"

    @property
    def postgres_directory(self) -> Path:
        """May be a link: root's PostgreSQL runs as somebody who cannot enter every directory."""
        return self.services_directory / "postgres"

    @property
    def hub_env(self) -> Path:
        return self.directory / "hub.env"

    @property
    def munge_socket(self) -> Path:
        return self.run_directory / "munge.socket"

    @property
    def database_socket(self) -> Path:
        return self.run_directory / "database.socket"

    @property
    def environment(self) -> dict[str, str]:
        """Everything a command or daemon of this cluster sees; nothing leaks in from the caller."""
        kept = {name: os.environ[name] for name in ("HOME", "USER") if name in os.environ}
        path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
        own = {"PATH": path, "LANG": "C.UTF-8", "SLURM_CONF": str(self.slurm_conf)}
        return kept | own | dict(self.marks)

    def save(self) -> None:
        """Write cluster.json, which is all that a later command needs to know."""
        document = {
            "schema": 1,
            "directory": str(self.directory),
            "run_directory": str(self.run_directory),
            "options": asdict(self.options),
            "ports": asdict(self.ports),
            "node_names": self.node_names,
            "user": getpass.getuser(),
            "slurm_conf": str(self.slurm_conf),
            "work_dir": str(self.work_dir),
            "ssh_key_file": str(self.ssh_directory / "user_key"),
            "ssh_known_hosts": str(self.ssh_directory / "known_hosts"),
        }
        if SERVICES in self.options.parts:
            document |= {
                "services_file": str(self.services_directory / "services.json"),
                "hub_env": str(self.hub_env),
            }
        write_whole(_record(self.directory), json.dumps(document, indent=2) + "\n")


def _record(directory: Path) -> Path:
    return directory / "cluster.json"


def load(directory: Path) -> Cluster | None:
    """Return the cluster that lives in this directory, or None if there is none."""
    try:
        text = _record(directory).read_text()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise ClusterError(f"cannot read {_record(directory)}: {error.strerror}") from error
    except ValueError as error:
        raise _damaged(directory, error) from error
    try:
        document = json.loads(text)
        return Cluster(
            directory=directory,
            run_directory=Path(document["run_directory"]),
            options=_options(document["options"]),
            ports=Ports(**document["ports"]),
        )
    except (KeyError, TypeError, AttributeError, ValueError, ClusterError) as error:
        raise _damaged(directory, error) from error


def _damaged(directory: Path, error: Exception) -> ClusterError:
    return ClusterError(
        f"{_record(directory)} is damaged or of another version ({error!r}): put it back, or "
        f"end what `pgrep -af {directory}/` shows and delete {directory}"
    )


def _options(document: dict[str, Any]) -> Options:
    lists = {name: tuple(value) for name, value in document.items() if isinstance(value, list)}
    return Options(**(document | lists))


def resolve(directory: str) -> Path:
    """Return the directory as an absolute path that slurm.conf can hold."""
    if not directory:
        raise ClusterError("the directory's name is empty: give one")  # not the current directory
    path = Path(directory).resolve()
    if not PLAIN_PATH.fullmatch(str(path)):
        raise ClusterError(f"{path} holds characters that slurm.conf cannot; use a plainer path")
    return path


def names_in(directory: Path) -> set[str]:
    """Return what the directory holds, a torn write by its file's name; nothing if it is none."""
    try:
        return {entry.name.removesuffix(".new") for entry in directory.iterdir()}
    except (FileNotFoundError, NotADirectoryError):
        return set()
    except OSError as error:
        raise ClusterError(f"cannot read {directory}: {error.strerror}") from error


def refuse_foreign(directory: Path, own: Collection[str]) -> None:
    """Raise ClusterError if the directory holds anything else than these names."""
    foreign = sorted(names_in(directory).difference(own))
    if foreign:
        raise ClusterError(
            f"{directory} holds {foreign[0]!r}, which is not ours: name a new or an empty directory"
        )


def prepare_directory(directory: Path) -> None:
    """Create the directory, or say why it cannot be written."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ClusterError(f"cannot write {directory}: {error.strerror}") from error


def choose_run_directory(directory: Path) -> Path:
    """Return where the sockets may lie: inside, or in a short place of their own."""
    if len(str(directory)) <= MAX_DIRECTORY:
        return directory / "run"
    return Path(tempfile.mkdtemp(prefix="cluster-", dir="/tmp"))


def remove(cluster: Cluster) -> None:
    """Delete everything `up` wrote, work_dir included; the directory goes too once it is empty."""
    shutil.rmtree(cluster.run_directory, ignore_errors=True)
    if cluster.postgres_directory.is_symlink():
        shutil.rmtree(cluster.postgres_directory.resolve(), ignore_errors=True)
    for name in DIRECTORIES:
        shutil.rmtree(cluster.directory / name, ignore_errors=True)
    for name in FILES:
        (cluster.directory / name).unlink(missing_ok=True)
    if not any(cluster.directory.iterdir()):
        cluster.directory.rmdir()


def write_whole(path: Path, text: str, *, mode: int = 0o644) -> None:
    """Write a file that a crash leaves either old or new, never torn."""
    new = path.with_name(path.name + ".new")
    new.unlink(missing_ok=True)
    new.touch(mode=mode)
    new.write_text(text)
    new.replace(path)
