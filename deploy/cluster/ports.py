"""Ports of this cluster alone, so that several live side by side."""

import os
import random
import socket
from collections.abc import Iterator

from deploy.cluster.errors import ClusterError
from deploy.cluster.layout import Options, Ports

# Below the range from which Linux hands ports to clients.
LOWEST, HIGHEST = 12000, 32000
TRIES = 200
STEP = 16
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


def choose(options: Options) -> Ports:
    """Return a free block of ports, starting at the asked one if one is asked for."""
    if options.first_port:
        taken = _taken(options.first_port, options)
        if taken:
            raise ClusterError(f"port {taken[0]} is in use; give another --first-port, or none")
        return _block(options.first_port)
    for first in _candidates(HIGHEST - options.nodes):
        if not _taken(first, options):
            return _block(first)
    raise ClusterError(
        f"no {options.nodes + BEFORE_NODES} free ports in a row between {LOWEST} and {HIGHEST}"
    )


def _candidates(highest: int) -> Iterator[int]:
    """Yield where to look; by pid first, for then two that start at once do not meet."""
    yield LOWEST + (os.getpid() * STEP) % (highest - LOWEST)
    for _ in range(TRIES):
        yield random.randrange(LOWEST, highest)


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


def _taken(first: int, options: Options) -> list[int]:
    return [
        port for port in range(first, first + BEFORE_NODES + options.nodes) if not is_free(port)
    ]


def require_free(port: int, *, owner: str) -> None:
    """Refuse to start a daemon on a remembered port that another program has taken."""
    if not is_free(port):
        raise ClusterError(
            f"port {port}, which {owner} of this cluster needs, is in use by another program;"
            " end that program, or `wipe` this cluster to choose new ports"
        )
