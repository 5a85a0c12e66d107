"""Counters of errors that the kernel keeps, read at the run's start and at its end."""

from __future__ import annotations

from runner.endings import CannotRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from runner.probes.node import Node

    Counts = dict[str, dict[str, int]]  # by place, by counter

RDMA = "sys/class/infiniband"
RDMA_COUNTERS = (
    "symbol_error",
    "link_downed",
    "port_rcv_errors",
    "excessive_buffer_overrun_errors",
)
MEMORY = "sys/devices/system/edac/mc"
NETWORK = "sys/class/net"


def watch_rdma(node: Node) -> Callable[[], Any]:
    return _both_ends(lambda: _rdma(node))


def watch_memory(node: Node) -> Callable[[], Any]:
    return _both_ends(lambda: _memory(node))


def watch_network(node: Node) -> Callable[[], Any]:
    return _both_ends(lambda: _network(node))


def _both_ends(read: Callable[[], Any]) -> Callable[[], Any]:
    before = read()
    return lambda: {"before": before, "after": read()}


def _rdma(node: Node) -> Counts:
    ports = node.names(RDMA, "*/ports/*")
    if not ports:
        raise CannotRun(f"there is no RDMA port below {node.root / RDMA}")
    return {
        port: {name: node.read_count(f"{RDMA}/{port}/counters/{name}") for name in RDMA_COUNTERS}
        for port in ports
    }


def _memory(node: Node) -> Counts:
    controllers = node.names(MEMORY, "mc[0-9]*")
    if not controllers:
        raise CannotRun(
            f"no memory controller is watched below {node.root / MEMORY}:"
            " load the EDAC driver of this CPU"
        )
    return {
        each: {
            name: node.read_count(f"{MEMORY}/{each}/{name}") for name in ("ue_count", "ce_count")
        }
        for each in controllers
    }


def _network(node: Node) -> dict[str, dict[str, Any]]:
    """Tell of each interface that is a device: bridges and tunnels have no cable."""
    names = [
        name for name in node.names(NETWORK) if (node.root / NETWORK / name / "device").exists()
    ]
    if not names:
        raise CannotRun(f"there is no network device below {node.root / NETWORK}")
    return {
        name: {
            "flags": int(node.read(f"{NETWORK}/{name}/flags"), 16),
            "state": node.read(f"{NETWORK}/{name}/operstate").strip(),
            "carrier_down_count": node.read_count(f"{NETWORK}/{name}/carrier_down_count"),
        }
        for name in names
    }
