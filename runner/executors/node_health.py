"""Looks at the node; judges nothing. One entry in PROBES, WATCHES or COMMANDS for each section."""

from __future__ import annotations

import json
import time
from importlib import import_module

from runner.base import BaseRunner
from runner.contract.health import CHECKS_OF, SECTION_OF
from runner.contract.slugs import Slugs
from runner.endings import CannotRun
from runner.facts import root_of
from runner.probes import tools
from runner.probes.node import Node

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from runner.contract.wire import ExecutionContext
    from runner.workspace import WorkspaceManager

# Begun before everything else and asked at the end. The kernel log comes first, so that it sees
# what the others provoke.
WATCHES = {
    "kernel_errors": "kernel_log:watch",
    "rdma_errors": "counters:watch_rdma",
    "memory_errors": "counters:watch_memory",
    "network_links": "counters:watch_network",
    "nvidia_smi_growth": "tools:watch_nvidia_smi",
    "stuck_processes": "processes:watch",
}
PROBES = {
    "memory_size": "sizes:memory",
    "cpu_count": "sizes:cpus",
    "filesystems": "filesystems:look_at_all",
    "clock_offset": "clock:offset_of",
    "mounts": "filesystems:mounted",
    "rdma_signal": "tools:ask_mlxlink",
    "port_authentication": "tools:ask_supplicants",
    "network_settings": "devices:network_settings",
    "lost_carriers": "tools:ask_journal",
    "boot_log": "boot_log:limited_links",
    "iommu": "settings:iommu",
    "cpu_sockets": "processors:sockets",
    "cpu_cores": "processors:cores",
    "cpu_clocks": "processors:clocks",
    "governors": "processors:governors",
    "clock_source": "processors:clock_source",
    "free_blocks": "settings:free_blocks",
    "swap": "settings:swap",
    "nvidia_modules": "settings:modules",
    "numa_balancing": "settings:numa_balancing",
    "locked_memory": "settings:locked_memory",
    "shared_memory": "settings:shared_memory",
    "uptime": "settings:uptime",
    "reboots": "tools:ask_last",
    "kernel": "settings:kernel",
    "bios": "devices:bios",
    "arrays": "settings:arrays",
    "nvme_drives": "devices:nvme_drives",
    "nvme_health": "tools:ask_nvme",
    "rocm_ras": "devices:amd_ras",
}
NAP_S = 10.0


class NodeHealth(BaseRunner):
    slug = Slugs.NODE_HEALTH
    reads = frozenset({"checks", "filesystems", "watch_s", "golden"})

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        asked = set(context.params["checks"])
        if unknown := asked - set(SECTION_OF):
            raise CannotRun(f"unknown checks {sorted(unknown)}; known: {sorted(SECTION_OF)}")
        root = root_of(context.facts_root, workspace_manager.node_name)
        node = Node(root, workspace_manager, filesystems=context.params["filesystems"])
        found = look(node, {SECTION_OF[check] for check in asked}, int(context.params["watch_s"]))
        workspace_manager.write_file("node-health.json", json.dumps(found))
        workspace_manager.say(f"looked at {', '.join(sorted(asked))}")


def look(node: Node, sections: set[str], watch_s: float) -> dict[str, Any]:
    """Return what was found of each section, at least `watch_s` after the watches began."""
    until = time.monotonic() + watch_s
    begun = {each: _begun(node, WATCHES[each]) for each in WATCHES if each in sections}
    found = {
        each: answer(_probe(node, each)) for each in CHECKS_OF if each in sections - set(begun)
    }
    while (left_s := until - time.monotonic()) > 0:
        time.sleep(min(left_s, NAP_S))
        node.workspace_manager.note_progress()
    return {**found, **{each: answer(end) for each, end in begun.items()}}


def answer(ask: Callable[[], Any]) -> Any:
    """Return what was found, or {"error": why it could not be known}."""
    try:
        return ask()
    except CannotRun as why:
        return {"error": str(why)}


def _begun(node: Node, watch: str) -> Callable[[], Any]:
    """Begin to watch; return what ends it. What cannot begin is an error at the end too."""
    try:
        end: Callable[[], Any] = _named(watch)(node)
    except CannotRun as why:
        error = {"error": str(why)}
        return lambda: error
    return end


def _probe(node: Node, section: str) -> Callable[[], Any]:
    if section in tools.COMMANDS:
        return lambda: tools.ask(node, section)
    return lambda: _named(PROBES[section])(node)


def _named(place: str) -> Callable[[Node], Any]:
    module, _, name = place.partition(":")
    function: Callable[[Node], Any] = getattr(import_module(f"runner.probes.{module}"), name)
    return function
