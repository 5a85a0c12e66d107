"""A node's part of fio's client and server: it serves until the step is ended."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import sys

from runner.workers.words import node_name, split_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

CANNOT_SERVE = 3  # exit code of a worker that has no fio, or no directory


def main(arguments: Sequence[str]) -> int:
    """Become the server. `directory=DIR places=n1@10.0.0.1:18765,…`: files are named below DIR."""
    asked = split_words(arguments)
    places = dict(place.split("@", 1) for place in asked["places"].split(","))
    address, _, port = places[node_name()].rpartition(":")
    fio = shutil.which("fio")
    if fio is None:
        return _cannot("fio is not installed")
    if _is_taken(address, int(port)):
        return _cannot(f"port {port} of {address} is taken: something else listens there")
    try:
        os.chdir(asked["directory"])
        # On this address only: whoever reaches a fio server may make it write files.
        return os.execv(fio, ["fio", f"--server=ip:{address},{port}"])
    except OSError as error:
        return _cannot(f"{asked['directory']} cannot be used: {error.strerror}")


def _is_taken(address: str, port: int) -> bool:
    """Say whether another listens there, whom the client would take for us."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            return error.errno == errno.EADDRINUSE
    return False


def _cannot(why: str) -> int:
    print(f"{node_name()}: {why}", file=sys.stderr, flush=True)
    return CANNOT_SERVE
