"""One start of everything, from the lock on its directory to the end of its last process."""

import fcntl
import os
import secrets
import socket
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from deploy.cluster import layout, lifecycle, packages, ports, processes
from deploy.one_machine import machine, own_slurm, programs, remains
from deploy.one_machine.child import Child
from deploy.one_machine.errors import CannotRun
from deploy.one_machine.place import Place
from deploy.one_machine.remains import Start
from deploy.one_machine.stop import Stop, StopSignals
from deploy.one_machine.supervisor import Supervisor, adopt_orphans

PACKAGE_GROUPS = ("cluster", "tools", "broker")
FIRST_PORT, PORTS_TRIED = 8000, 100
START_S = 180.0  # a machine that also burns in is slow
PREPARE_S = 600.0  # the migrations of a release may have much to move
CANCEL_S = 4.0  # in which what runs is cancelled, and the hub hears of it
LOOK_S = 0.2

# Of every installation: the first file of all, and those that each start writes and none deletes.
PROOF = frozenset({"lock", "hub.env", "password"})
CONTENTS = PROOF | {"running.json", "site-token", "hub", "log", "redis", "cluster"}

KERNEL_LOG_CLOSED = (
    "The kernel log cannot be read here ({why}), so this machine is burned in without it, and not "
    "accepted by that; run this as root, in a container with --cap-add SYSLOG --device /dev/kmsg"
)

Say = Callable[[str], None]


@dataclass(frozen=True)
class Wish:
    """What was asked for on the command line. `port` and `memory_mib` 0: whatever there is."""

    directory: str
    port: int = 0
    memory_mib: int = 0
    burn_in: bool = False


def run(wish: Wish, say: Say) -> None:
    """Bring everything up and keep it up until a signal ends it.

    Raises:
        CannotRun, ClusterError: it could not come up. Nothing of it is left running.
    """
    directory = layout.resolve(wish.directory)
    machine.refuse_nameless_user(os.geteuid())
    _refuse_foreign(directory)
    layout.prepare_directory(directory)
    with _alone(directory):
        _install(say)
        _clear(directory, say)
        if why := machine.why_kernel_log_is_closed():
            say(KERNEL_LOG_CLOSED.format(why=why))
        place, start = _planned(directory, wish)
        _supervise(place, start, wish, say)


def _refuse_foreign(directory: Path) -> None:
    """Refuse what is neither empty nor an installation, to which its owner may have added files."""
    if not layout.names_in(directory) >= PROOF:
        layout.refuse_foreign(directory, CONTENTS)


def _record(directory: Path) -> Path:
    return directory / "running.json"


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Hold the directory's lock, which ends with this process however that ends."""
    with (directory / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotRun(_who_runs(directory)) from None
        yield


def _who_runs(directory: Path) -> str:
    start = remains.load(_record(directory))
    if start is None or remains.identity(start.supervisor[0]) != start.supervisor:
        return f"another `make run` works on {directory}: wait until it has ended"
    return f"it runs already, at {start.url} (process {start.supervisor[0]}): press Ctrl-C there"


def _install(say: Say) -> None:
    missing = packages.absent(packages.listed(PACKAGE_GROUPS, packages.LIST.read_text()))
    if missing and os.geteuid() == 0:
        say(f"Installing Debian packages: {', '.join(missing)}")
    packages.install_missing(PACKAGE_GROUPS)


def _clear(directory: Path, say: Say) -> None:
    """End what is left of an earlier start that was killed."""
    start, cluster = remains.load(_record(directory)), layout.load(directory / "cluster")
    # Slurm first: it was asked to end, and may still be writing down which jobs it had.
    ended = {process.pid for process in lifecycle.down(cluster)} if cluster else set()
    if start is not None:
        ended |= set(remains.clear(start))
    if ended:
        say(f"Ended {len(ended)} processes that an earlier `make run` had left")


def _planned(directory: Path, wish: Wish) -> tuple[Place, Start]:
    token, port = secrets.token_hex(16), _port(wish.port)
    memory_mib = wish.memory_mib or machine.memory_for_tests_mib()
    home = directory / "cluster"
    layout.prepare_directory(home)
    cluster = own_slurm.plan(home, memory_mib=memory_mib, token=token)
    place = Place(directory, cluster, port)
    place.write()
    place.password()
    return place, Start(token, place.url, time.time(), remains.identity(os.getpid()))


def _port(asked: int) -> int:
    if asked:
        if not ports.is_free(asked):
            raise CannotRun(f"port {asked} is in use: give another --port, or none")
        return asked
    for port in range(FIRST_PORT, FIRST_PORT + PORTS_TRIED):
        if ports.is_free(port):
            return port
    last = FIRST_PORT + PORTS_TRIED - 1
    raise CannotRun(f"no port from {FIRST_PORT} to {last} is free: give one with --port")


def _supervise(place: Place, start: Start, wish: Wish, say: Say) -> None:
    adopt_orphans()
    supervisor, signals = Supervisor(start, _record(place.directory), say), StopSignals()
    attendant: Child | None = None
    try:
        signals.listen()
        _bring_up(supervisor, place, say)
        attendant = supervisor.start(programs.attendant(place, *_for_attendant(place, start, wish)))
        while True:
            supervisor.look()
            time.sleep(LOOK_S)
    except Stop:
        say("Ending everything")
    finally:
        signals.defer()
        if attendant is not None:
            supervisor.end_first(attendant, grace_s=CANCEL_S, is_hurry=signals.is_hurry)
        supervisor.end()


def _for_attendant(place: Place, start: Start, wish: Wish) -> list[str]:
    node = place.cluster.node_names[0]
    options = ["--node", node, "--password-file", str(place.password_file)]
    options += ["--token", start.token, "--since", str(start.began_at)]
    return [*options, "--burn-in"] if wish.burn_in else options


def _bring_up(supervisor: Supervisor, place: Place, say: Say) -> None:
    say(f"Starting Redis, Slurm, hub and satellite in {place.directory}")
    redis = supervisor.start(programs.redis(place))
    _await_ready(redis, lambda: _opens(place.redis_socket))
    files = ("--site-file", str(place.site_file), "--password-file", str(place.password_file))
    prepare = supervisor.run(programs.prepare(place, *files))
    supervisor.start_slurm(place.cluster)
    _await_end(prepare)
    hub = {each.name: supervisor.start(each) for each in programs.hub(place)}
    supervisor.start(programs.satellite(place))
    _await_ready(hub["web"], lambda: _answers(place.url))


def _await_ready(child: Child, is_ready: Callable[[], bool]) -> None:
    """Wait until a child is ready. Raises CannotRun with its last words."""
    processes.wait_until(lambda: is_ready() or not child.is_running, timeout_s=START_S)
    if not child.is_running or not is_ready():
        raise CannotRun(f"{child.program.name} does not come up: {_last_words(child)}")


def _await_end(child: Child) -> None:
    """Wait until a child has done its work. Raises CannotRun with its last words."""
    processes.wait_until(lambda: not child.is_running, timeout_s=PREPARE_S)
    if child.process is None or child.process.returncode != 0:
        raise CannotRun(f"{child.program.name} failed: {_last_words(child)}")


def _last_words(child: Child) -> str:
    log = child.program.log
    lines = log.read_text(errors="replace").splitlines() if log.exists() else []
    return f"{lines[-1] if lines else 'it said nothing'} (see {log})"


def _opens(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(path))
        except OSError:
            return False
    return True


def _answers(url: str) -> bool:
    """Return whether a web server answers there, whatever it says."""
    try:
        urllib.request.urlopen(url, timeout=2).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True
