"""Looks at the node; judges nothing. One function a check, one entry in CHECKS."""

from __future__ import annotations

import json

from runner.base import BaseRunner
from runner.contract.slugs import Slugs
from runner.endings import CannotRun
from runner.facts import cpu_count, memory_bytes, root_of
from runner.probes.clock import clock_offset
from runner.probes.filesystems import look_at
from runner.probes.kernel_log import KernelLog

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from runner.contract.wire import ExecutionContext
    from runner.workspace import WorkspaceManager

CHECKS = (
    "memory_size",
    "cpu_count",
    "filesystems",
    "disk_space",
    "clock_offset",
    "kernel_errors",
)


class NodeHealth(BaseRunner):
    slug = Slugs.NODE_HEALTH
    reads = frozenset({"checks", "filesystems"})

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        asked = set(context.params["checks"])
        if asked - set(CHECKS):
            raise CannotRun(f"unknown checks {sorted(asked - set(CHECKS))}; known: {CHECKS}")
        kernel_log = KernelLog()  # opened first, so that it sees what the checks provoke
        root = root_of(context.facts_root, workspace_manager.node_name)
        found: dict[str, Any] = {}
        if "memory_size" in asked:
            found["memory_size"] = _measured("bytes", memory_bytes(root, "MemTotal"), root)
        if "cpu_count" in asked:
            found["cpu_count"] = _measured("count", cpu_count(root), root)
        if asked & {"filesystems", "disk_space"}:
            found["filesystems"] = [look_at(path) for path in context.params["filesystems"]]
        if "clock_offset" in asked:
            found["clock_offset"] = clock_offset(workspace_manager.directory)
        if "kernel_errors" in asked:
            found["kernel_errors"] = kernel_log.errors()
            lines = found["kernel_errors"].get("lines", [])
            workspace_manager.write_file("kernel-log.txt", "".join(f"{line}\n" for line in lines))
        kernel_log.close()
        workspace_manager.write_file("node-health.json", json.dumps(found))
        workspace_manager.say(f"looked at {', '.join(sorted(asked))}")


def _measured(name: str, value: int | None, root: Path) -> dict[str, Any]:
    return {"error": f"not readable below {root}"} if value is None else {name: value}
