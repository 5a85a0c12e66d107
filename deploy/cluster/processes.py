"""Find, start and end the processes of one cluster, and of no other."""

import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from deploy.cluster.errors import ClusterError
from deploy.cluster.layout import Cluster

POLL_S = 0.02
DAEMONS = frozenset(
    {
        *("slurmctld", "slurmd", "slurmdbd", "slurmstepd", "munged", "mariadbd", "sshd"),
        *("redis-server", "postgres", "rclone"),
    }
)
ALIASES = {"redis-check-rdb": "redis-server"}  # what Debian's /usr/bin/redis-server links to
JOB = "job"
REMOTE_COMMAND = "remote command"


@dataclass(frozen=True)
class Process:
    """A live process: one of DAEMONS, a REMOTE_COMMAND over SSH, or a JOB, which any child is."""

    pid: int
    name: str
    argv: tuple[str, ...]


def find(cluster: Cluster) -> list[Process]:
    """Return every live process that belongs to this cluster, however it was orphaned."""
    entries = [entry for entry in Path("/proc").iterdir() if entry.name.isdecimal()]
    recognised = [_recognise(entry, cluster) for entry in entries if int(entry.name) != os.getpid()]
    found = {process.pid: process for process in recognised if process is not None}
    return [*found.values(), *_offspring(found, entries)]


def _offspring(found: dict[int, Process], entries: list[Path]) -> Iterator[Process]:
    """Yield what our processes started with an environment that no longer tells whose it is."""
    children: dict[int, list[int]] = {}
    for entry in entries:
        children.setdefault(_parent(entry), []).append(int(entry.name))
    new = [pid for parent in found for pid in children.get(parent, ()) if pid not in found]
    while new:
        pid = new.pop()
        yield Process(pid, JOB, ())
        new += [child for child in children.get(pid, ()) if child not in found]


def _parent(entry: Path) -> int:
    """Return the parent's pid, 0 if the process has just ended."""
    try:
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _recognise(entry: Path, cluster: Cluster) -> Process | None:
    """Return the process if it is the cluster's; what vanishes or is unreadable is not."""
    try:
        program = _program((entry / "exe").readlink())
        argv = tuple(os.fsdecode((entry / "cmdline").read_bytes()).rstrip("\0").split("\0"))
        if program in DAEMONS:
            ours = _serves(entry, argv, cluster)
            return Process(int(entry.name), program, argv) if ours else None
        name = _role(_environment(entry), cluster)
        return Process(int(entry.name), name, argv) if name else None
    except OSError:
        return None


def _program(executable: Path) -> str:
    name = executable.name.removesuffix(" (deleted)").removesuffix("-wlm")
    return ALIASES.get(name, name)


def _serves(entry: Path, argv: tuple[str, ...], cluster: Cluster) -> bool:
    """Tell by arguments, then by open logs and sockets: slurmstepd and sshd rewrite their argv."""
    if any(_names(argument, cluster) for argument in argv[1:]):
        return True
    private = (f"{cluster.run_directory}/", f"{cluster.log_directory}/")
    opened = ((entry / "fd" / fd.name) for fd in (entry / "fd").iterdir())
    return any(str(link.readlink()).startswith(private) for link in opened if link.is_symlink())


def _names(argument: str, cluster: Cluster) -> bool:
    """Tell whether it is `<path>` or `--option=<path>` of what our own daemons are started with.

    /mnt<path> is somebody else's, and so is a path in a directory that is not ours, below ours.
    """
    value = argument.partition("=")[2] if argument.startswith("-") else argument
    places = (cluster.run_directory, cluster.log_directory, cluster.ssh_directory)
    stores = (cluster.database_directory, cluster.services_directory)
    homes = tuple(f"{place}/" for place in (*places, *stores))
    return value == str(cluster.slurm_conf) or value.startswith(homes)


def _environment(entry: Path) -> dict[str, str]:
    pairs = os.fsdecode((entry / "environ").read_bytes()).split("\0")
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def _role(environment: dict[str, str], cluster: Cluster) -> str | None:
    """SLURM_CONF alone proves nothing: the operator's own shell may export it."""
    if environment.get("SLURM_CONF") != str(cluster.slurm_conf):
        return None
    if "SLURMD_NODENAME" in environment:
        return JOB
    if environment.get("SSH_CONNECTION", "").endswith(f" {cluster.ports.sshd}"):
        return REMOTE_COMMAND
    return None


def end(processes: Iterable[Process], *, grace_s: float) -> None:
    """Ask the processes to end, and make those end that have not within grace_s seconds."""
    pids = [process.pid for process in processes]
    for pid in pids:
        _signal(pid, signal.SIGTERM)
        _signal(pid, signal.SIGCONT)  # a stopped process would never see the request
    if not wait_until(lambda: not any(map(is_alive, pids)), timeout_s=grace_s):
        for pid in filter(is_alive, pids):
            _signal(pid, signal.SIGKILL)
        wait_until(lambda: not any(map(is_alive, pids)), timeout_s=5)


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def is_alive(pid: int) -> bool:
    """Return whether the process still runs; a zombie does not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] not in {"Z", "X"}


def wait_until(condition: Callable[[], bool], *, timeout_s: float) -> bool:
    """Return whether the condition became true in time."""
    give_up = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > give_up:
            return False
        time.sleep(POLL_S)
    return True


def start(
    argv: Sequence[str],
    cluster: Cluster,
    *,
    log: str,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> subprocess.Popen[bytes]:
    """Start a daemon that stays in the foreground, in a session of its own, output to its log."""
    with (cluster.log_directory / log).open("ab") as output:
        return subprocess.Popen(
            [*cluster.wrapper, *argv],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            env={**cluster.environment, **environment},
            start_new_session=True,
        )


def await_ready(
    name: str, ready: Callable[[], bool], cluster: Cluster, *, daemon: subprocess.Popen[bytes]
) -> None:
    """Wait until the daemon answers; say why it does not, in its own log's words."""
    wait_until(lambda: ready() or daemon.poll() is not None, timeout_s=60)
    if daemon.poll() is None and ready():
        return
    what = "gives no answer" if daemon.poll() is None else f"ended at once ({daemon.returncode})"
    raise ClusterError(f"{name} {what}: {last_words(cluster, name)}")


def last_words(cluster: Cluster, name: str) -> str:
    """Return the daemon's last complaint, and where the rest of its log is."""
    log = cluster.log_directory / f"{name}.log"
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    complaints = [line for line in lines if "fatal" in line or "rror" in line]
    return f"{(complaints or lines or ['its log is empty'])[-1]} (see {log})"


def run(
    argv: Sequence[str],
    cluster: Cluster,
    *,
    timeout_s: float = 20,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Run a command to its end and return its output; every client of Slurm can hang."""
    try:
        done = subprocess.run(
            argv,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout_s,
            env={**cluster.environment, **environment},
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ClusterError(f"`{' '.join(argv)}` did not work: {error}") from error
    if done.returncode != 0:
        words = done.stderr.strip() or done.stdout.strip() or "no message"
        raise ClusterError(f"`{' '.join(argv)}` exited {done.returncode}: {words}")
    return done.stdout
