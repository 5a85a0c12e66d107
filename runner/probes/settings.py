"""Settings of the kernel, and limits that a workload inherits."""

from __future__ import annotations

import os

from runner.endings import CannotRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.probes.node import Node

LARGE_ORDER = 9  # 2^9 pages of 4 KiB: a huge page


def free_blocks(node: Node) -> dict[str, Any]:
    """Count free blocks of a huge page or more, over all zones."""
    zones = [line.partition("zone")[2].split()[1:] for line in lines(node, "proc/buddyinfo")]
    if not all(word.isdecimal() for zone in zones for word in zone):
        raise CannotRun(f"{node.root / 'proc/buddyinfo'} holds what is no number")
    return {"count": sum(int(word) for zone in zones for word in zone[LARGE_ORDER:])}


def swap(node: Node) -> dict[str, Any]:
    return {"devices": [line.split()[0] for line in lines(node, "proc/swaps")[1:]]}


def modules(node: Node) -> dict[str, Any]:
    return {"loaded": [line.split()[0] for line in lines(node, "proc/modules")]}


def numa_balancing(node: Node) -> dict[str, Any]:
    return {"count": node.read_count("proc/sys/kernel/numa_balancing")}


def locked_memory(_node: Node) -> dict[str, Any]:
    """Tell the soft limit that this job was given; None is unlimited."""
    import resource

    soft = resource.getrlimit(resource.RLIMIT_MEMLOCK)[0]
    return {"limit_bytes": None if soft == resource.RLIM_INFINITY else soft}


def shared_memory(_node: Node) -> dict[str, Any]:
    try:
        space = os.statvfs("/dev/shm")
    except OSError as error:
        raise CannotRun(f"/dev/shm cannot be read: {error.strerror}") from error
    return {"bytes": space.f_blocks * space.f_frsize}


def kernel(node: Node) -> dict[str, Any]:
    return {"text": node.read("proc/sys/kernel/osrelease")}


def iommu(node: Node) -> dict[str, Any]:
    """Count the groups of devices that an IOMMU translates for, and tell what the boot asked."""
    if not (node.root / "sys/kernel").is_dir():
        raise CannotRun(f"{node.root / 'sys/kernel'} cannot be read")
    words = node.read("proc/cmdline").split()
    return {
        "groups": len(node.names("sys/kernel/iommu_groups")),
        "arguments": [word for word in words if "iommu" in word.partition("=")[0]],
    }


def uptime(node: Node) -> dict[str, Any]:
    return {"text": node.read("proc/uptime")}


def arrays(node: Node) -> dict[str, Any]:
    return {"text": node.read("proc/mdstat")}


def lines(node: Node, path: str) -> list[str]:
    return [line for line in node.read(path).splitlines() if line.strip()]
