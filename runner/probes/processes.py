"""Processes that wait for a device, or for somebody to reap them, at both ends of the run."""

from __future__ import annotations

from runner.endings import CannotRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from runner.probes.node import Node

STUCK = ("D", "Z")


def watch(node: Node) -> Callable[[], Any]:
    before = _stuck(node)

    def end() -> dict[str, Any]:
        after = _stuck(node)
        return {"processes": [after[each] for each in sorted(after) if each in before]}

    return end


def _stuck(node: Node) -> dict[tuple[str, str], str]:
    """Return "name (pid, state)" by pid and start time: pids come back."""
    stats = [_stat(node, pid) for pid in node.names("proc", "[0-9]*")]
    if not stats:
        raise CannotRun(f"{node.root / 'proc'} lists no process")
    return {
        (pid, rest[19]): f"{name} (pid {pid}, state {rest[0]})"
        for pid, name, rest in stats
        if len(rest) > 19 and rest[0] in STUCK
    }


def _stat(node: Node, pid: str) -> tuple[str, str, list[str]]:
    try:
        text = (node.root / "proc" / pid / "stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return pid, "", []  # it has ended meanwhile
    head, _, rest = text.rpartition(")")
    return pid, head.partition("(")[2], rest.split()
