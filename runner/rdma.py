"""The RDMA ports of one node and the GPU next to each, as the kernel lists them below /sys."""

from __future__ import annotations

import math
import os
import re
from pathlib import Path

from runner.endings import CannotRun
from runner.facts import read_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    Ports = Mapping[str, Mapping[str, Any]]  # by name, like mlx5_0:1

ACTIVE = "ACTIVE"
GPU_DRIVERS = ("nvidia", "amdgpu")
MOST_GIDS = 16
_PCI_ADDRESS = re.compile(r"[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")


def ports_below(root: Path) -> dict[str, dict[str, Any]]:
    """Return every RDMA port of the machine whose /sys is below `root`."""
    gpus = _gpus(root)
    ports = {}
    for device in sorted(root.glob("sys/class/infiniband/*")):
        place = os.path.realpath(device / "device")
        for port in sorted((device / "ports").glob("*")):
            ports[f"{device.name}:{port.name}"] = {
                "state": _word(port / "state", 1),
                "rate": _rate(port),
                "link_layer": read_line(port / "link_layer") or "",
                "gid_index": _gid_index(port),
                "numa_node": _numa_node(device / "device"),
                "gpu": _nearest(place, gpus),
            }
    return ports


def refuse_unknown_rates(ports: Mapping[str, Ports], devices: Sequence[str]) -> None:
    """Raise CannotRun for an active port without a rate: it would pass for one of the storage."""
    for node, each in ports.items():
        for name, port in each.items():
            if devices and name.partition(":")[0] not in devices:
                continue
            if port["state"] == ACTIVE and port["rate"] is None:
                raise CannotRun(
                    f"{node} does not say the rate of its active port {name}: look at"
                    f" /sys/class/infiniband/{name.replace(':', '/ports/')}/rate there"
                )


def links_between(
    here: Ports, there: Ports, *, ends: tuple[str, str], devices: Sequence[str]
) -> tuple[list[str], dict[str, str]]:
    """Return the links that both ends have, and those that only one has, with the reason.

    Ports of one name are the ends of one link. Without `devices` these are the fastest ports of
    either node: the others carry its storage and its management.
    """
    asked = [name for name in {*here, *there} if name.partition(":")[0] in devices]
    wanted = {*_usable(here, devices), *_usable(there, devices), *asked}
    lost: dict[str, str] = {}
    for name in sorted(wanted):
        for ports, node in zip((here, there), ends):  # noqa: B905 (not in Python 3.8)
            if name not in _usable(ports, devices):
                lost[name] = f"{name} at {node} is {_words(ports.get(name))}"
    return [name for name in sorted(wanted) if name not in lost], lost


def _usable(ports: Ports, devices: Sequence[str]) -> list[str]:
    active = {name: port for name, port in ports.items() if port["state"] == ACTIVE}
    if devices:
        return [name for name in active if name.partition(":")[0] in devices]
    fastest = max((port["rate"] or 0 for port in active.values()), default=0)
    return [name for name, port in active.items() if port["rate"] == fastest]


def _words(port: Mapping[str, Any] | None) -> str:
    if port is None:
        return "not there"
    rate = "at an unknown rate" if port["rate"] is None else f"{port['rate']:g} Gb/s"
    return f"{port['state'] or 'in an unknown state'}, {rate}"


def _word(path: Path, position: int) -> str:
    """Return one word of "4: ACTIVE" or of "400 Gb/sec (4X NDR)"."""
    words = (read_line(path) or "").split()
    return words[position] if len(words) > position else ""


def _rate(port: Path) -> float | None:
    """Return the port's rate in Gb/s; None if the kernel does not say one."""
    try:
        rate = float(_word(port / "rate", 0))
    except ValueError:
        return None
    return rate if math.isfinite(rate) and rate > 0 else None


def _numa_node(device: Path) -> int:
    """Return the device's processor; -1 where the kernel knows none."""
    said = read_line(device / "numa_node") or ""
    return int(said) if said.isdecimal() else -1


def _gid_index(port: Path) -> int | None:
    """Return which address of an Ethernet port RoCE v2 routes over IPv4; InfiniBand needs none."""
    for index in range(MOST_GIDS):
        gid = read_line(port / f"gids/{index}") or ""
        is_v2 = read_line(port / f"gid_attrs/types/{index}") == "RoCE v2"
        if is_v2 and gid.startswith("0000:0000:0000:0000:0000:ffff:"):
            return index
    return None


def _gpus(root: Path) -> list[tuple[str, int, str]]:
    """Return driver, number and place of each GPU; tools number them by PCI address."""
    found = []
    for driver in GPU_DRIVERS:
        paths = sorted(root.glob(f"sys/bus/pci/drivers/{driver}/*"))
        gpus = [path for path in paths if _PCI_ADDRESS.fullmatch(path.name)]
        found += [(driver, index, os.path.realpath(gpu)) for index, gpu in enumerate(gpus)]
    return found


def _nearest(place: str, gpus: Sequence[tuple[str, int, str]]) -> tuple[str, int] | None:
    """Return the GPU that shares most of the way from the processor, or at least that processor."""
    beside = _numa_node(Path(place))

    def nearness(gpu: tuple[str, int, str]) -> tuple[int, bool]:
        return len(os.path.commonpath([place, gpu[2]])), _numa_node(Path(gpu[2])) == beside

    return max(gpus, key=nearness)[:2] if gpus else None
