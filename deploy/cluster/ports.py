"""Ports of this cluster alone, so that several live side by side.

A block that was given out belongs to its directory from then on, long before the last daemon
listens and also while the cluster is down; `wipe` gives it back.
"""

import fcntl
import hashlib
import json
import os
import random
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from deploy.cluster.errors import ClusterError
from deploy.cluster.layout import Options, Ports, write_whole

LOWEST, HIGHEST = 12000, 32000
CLIENT_PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")
TAKEN = "is in use by another program"
ENOUGH = 2000
TRIES = 200
BEFORE_NODES = 6  # ports of a cluster that are not a slurmd's


def is_free(port: int) -> bool:
    """Return whether a daemon could listen on this port now, on every address."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("0.0.0.0", port))
        except OSError:
            return False
    return True


def choose(options: Options, directory: Path) -> Ports:
    """Return a free block for this directory, starting at the asked port if one is asked for."""
    length = options.nodes + BEFORE_NODES
    return _block(reserve(directory, length, first_port=options.first_port).start)


def reserve(directory: Path, length: int, *, first_port: int = 0) -> range:
    """Return free ports in a row that belong to this directory until it is gone."""
    with _one_at_a_time() as registry:
        mine = _reservation(registry, directory)
        reserved = _reserved(registry, besides=mine)
        for first in _candidates(first_port, length):
            block = range(first, first + length)
            taken = next((port for port in block if not is_free(port)), None)
            if first_port and taken is not None:
                raise ClusterError(f"port {taken} is in use; give another --first-port, or none")
            if taken is None and (first_port or reserved.isdisjoint(block)):
                document = {"directory": str(directory), "first": first, "length": length}
                write_whole(mine, json.dumps(document) + "\n")
                return block
    raise ClusterError(f"no {length} free ports in a row between {LOWEST} and {HIGHEST}")


def release(directory: Path) -> None:
    """Give the block of this directory back; it is no error if it has none."""
    with _one_at_a_time() as registry:
        _reservation(registry, directory).unlink(missing_ok=True)


@contextmanager
def _one_at_a_time() -> Iterator[Path]:
    """Yield where this user's reservations lie, held against every other command."""
    registry = Path(tempfile.gettempdir(), f"fleet-manager-ports-{os.geteuid()}")
    try:
        registry.mkdir(mode=0o700, exist_ok=True)
        lock = (registry / "lock").open("w")
    except OSError as error:
        raise ClusterError(f"cannot write {registry}: {error.strerror}") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield registry


def _reservation(registry: Path, directory: Path) -> Path:
    return registry / f"{hashlib.sha256(os.fsencode(directory)).hexdigest()[:16]}.json"


def _reserved(registry: Path, *, besides: Path) -> set[int]:
    """Return the ports of every other directory that is still there; forget those that are not."""
    reserved: set[int] = set()
    for path in registry.glob("*.json"):
        try:
            document = json.loads(path.read_text())
            holder = Path(document["directory"])
            block = range(document["first"], document["first"] + document["length"])
        except (ValueError, KeyError, TypeError):
            path.unlink()  # nobody can say whose it was
            continue
        if not holder.is_dir():
            path.unlink()
        elif path != besides:
            reserved.update(block)
    return reserved


def _candidates(first_port: int, length: int) -> Iterator[int]:
    if first_port:
        yield first_port
        return
    highest = _highest() - length
    for _ in range(TRIES):
        yield random.randrange(LOWEST, highest)


def _highest() -> int:
    """Return the end of our range: below the ports that this kernel hands to clients, if it can be.

    A client's connection takes a port for seconds that nobody can reserve. A kernel that hands out
    nearly all of them leaves no room below, so there the usual range must do.
    """
    try:
        first_of_clients = int(CLIENT_PORTS.read_text().split()[0])
    except (OSError, ValueError, IndexError):
        return HIGHEST
    return min(HIGHEST, first_of_clients) if first_of_clients >= LOWEST + ENOUGH else HIGHEST


def _block(first: int) -> Ports:
    return Ports(
        slurmctld=first,
        slurmdbd=first + 1,
        sshd=first + 2,
        redis=first + 3,
        postgres=first + 4,
        s3=first + 5,
        first_slurmd=first + BEFORE_NODES,
    )


def require_free(port: int, *, owner: str) -> None:
    """Refuse to start a daemon on a remembered port that another program has taken."""
    if not is_free(port):
        raise ClusterError(
            f"port {port}, which {owner} of this cluster needs, {TAKEN};"
            " end that program, or `wipe` this cluster to choose new ports"
        )
