"""Does a directory take a file and give it back? Asked in a child: a dead mount answers nobody."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import time
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.probes.node import Node

MOUNTS = Path("/proc/self/mounts")
ANSWER_S = 30.0
PROBE_BYTES = 1 << 16


def mounted(node: Node) -> dict[str, Any]:
    """Say of each directory whether a filesystem is mounted just there: else its parent answers."""
    points = {_unescaped(line.split()[1]) for line in MOUNTS.read_bytes().splitlines()}
    return {path: os.path.normpath(path) in points for path in node.filesystems}


def _unescaped(point: bytes) -> str:
    """Return a mount point as it is: the kernel writes white space in octal, and all else raw."""
    raw = re.sub(rb"\\([0-7]{3})", lambda found: bytes([int(found[1], 8)]), point)
    return raw.decode("utf-8", "replace")


def look_at_all(node: Node) -> list[dict[str, Any]]:
    return [look_at(path) for path in node.filesystems]


def look_at(path: str, *, answer_s: float = ANSWER_S) -> dict[str, Any]:
    """Return writable, error, free_bytes, size_bytes of the filesystem at `path`.

    The sizes are missing where they could not be read.
    """
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(theirs, path)
    os.close(theirs)
    try:
        answer = _read(ours, time.monotonic() + answer_s)
    finally:
        os.close(ours)
        os.kill(child, signal.SIGKILL)
        _reap(child)
    silent = {"writable": False, "error": f"no answer within {answer_s:g} s"}
    return {"path": path, **(json.loads(answer) if answer else silent)}


def probe(path: str) -> dict[str, Any]:
    """Write, fsync, read back, remove."""
    found: dict[str, Any] = {"writable": False, "error": None}
    try:
        space = os.statvfs(path)
        found["free_bytes"] = space.f_bavail * space.f_frsize
        found["size_bytes"] = space.f_blocks * space.f_frsize
        found["error"] = _write_and_read_back(Path(path))
    except OSError as error:
        found["error"] = error.strerror or repr(error)
    return {**found, "writable": found["error"] is None}


def _write_and_read_back(directory: Path) -> str | None:
    mark, data = (
        directory / f".burn-in.{os.getpid()}.{os.urandom(8).hex()}",
        os.urandom(PROBE_BYTES),
    )
    try:
        with mark.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        back = mark.read_bytes()
    finally:
        mark.unlink(missing_ok=True)
    return None if back == data else "what was written came back changed"


def _answer(pipe: int, path: str) -> None:
    """The child's whole life. It must not unwind into the parent's code."""
    try:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGALRM):
            signal.signal(number, signal.SIG_DFL)
        os.write(pipe, json.dumps(probe(path)).encode())
    finally:
        os._exit(0)


def _read(pipe: int, until: float) -> bytes:
    answer = b""
    while select.select([pipe], [], [], max(until - time.monotonic(), 0))[0]:
        data = os.read(pipe, 1 << 16)
        if not data:
            return answer
        answer += data
    return b""


def _reap(child: int) -> None:
    """Wait, but not for a child in uninterruptible sleep."""
    for _ in range(20):
        if os.waitpid(child, os.WNOHANG)[0]:
            return
        time.sleep(0.05)
