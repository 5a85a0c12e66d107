"""How much memory and how many CPUs."""

from __future__ import annotations

from runner.endings import CannotRun
from runner.facts import cpu_count, memory_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.probes.node import Node


def memory(node: Node) -> dict[str, Any]:
    return _measured("bytes", memory_bytes(node.root, "MemTotal"), node)


def cpus(node: Node) -> dict[str, Any]:
    return _measured("count", cpu_count(node.root), node)


def _measured(name: str, value: int | None, node: Node) -> dict[str, Any]:
    if value is None:
        raise CannotRun(f"not readable below {node.root}")
    return {name: value}
