"""The node's clock against the login host's, with the file server as the clock both can read."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

from runner.contract.artifacts import COMMON_CLOCK, LOGIN_CLOCK

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.probes.node import Node

MOUNTS = Path("/proc/self/mounts")


def offset_of(node: Node) -> dict[str, Any]:
    return clock_offset(node.workspace_manager.directory)


def clock_offset(directory: Path) -> dict[str, Any]:
    """Return {"offset_s": how far the node is ahead of the login host}, or {"error": why not}."""
    try:
        login = json.loads((directory / LOGIN_CLOCK).read_text(encoding="utf-8"))
        login_offset_s, login_filesystem = float(login["offset_s"]), str(login["filesystem"])
        filesystem = filesystem_of(directory, MOUNTS.read_text(encoding="utf-8"))
        offset_s = offset_against(directory) - login_offset_s
    except FileNotFoundError as error:
        return {"error": f"{error.filename} is missing: the login host did not say its clock"}
    except (OSError, ValueError, KeyError, TypeError) as error:
        return {"error": f"the clocks cannot be compared: {error!r}"}
    strange = {filesystem, login_filesystem} - COMMON_CLOCK
    if strange:
        return {"error": f"files on {', '.join(sorted(strange))} are stamped by their writer"}
    if not abs(offset_s) < float("inf"):
        return {"error": f"{LOGIN_CLOCK} holds no finite number"}
    return {"offset_s": offset_s}


def offset_against(directory: Path) -> float:
    """Return our clock minus the file server's, in seconds."""
    mark = directory / f".clock.{os.getpid()}"
    try:
        before = time.time()
        with mark.open("wb") as file:
            file.write(b"now")
            file.flush()
            os.fsync(file.fileno())
        stamped = mark.stat().st_mtime
        return (before + time.time()) / 2 - stamped
    finally:
        mark.unlink(missing_ok=True)


def filesystem_of(directory: Path, mounts: str) -> str:
    """Return the type of the filesystem that holds the directory; the last mount wins."""
    here, found = f"{directory.resolve()}/", (0, "")
    for line in mounts.splitlines():
        point, kind = line.split()[1:3]
        point = point.encode().decode("unicode_escape").rstrip("/") + "/"
        if here.startswith(point) and len(point) >= found[0]:
            found = (len(point), kind)
    return found[1]
