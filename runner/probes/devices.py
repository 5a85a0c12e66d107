"""Devices that the kernel lists below /sys."""

from __future__ import annotations

from runner.endings import CannotRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from runner.probes.node import Node

NVME, CARDS = "sys/class/nvme", "sys/class/drm"
NETWORK, DMI = "sys/class/net", "sys/class/dmi/id"
AMD = "0x1002"


def nvme_drives(node: Node) -> dict[str, Any]:
    """Tell each controller's state. A kernel that knows no NVMe drive has no such directory."""
    if not (node.root / "sys/class").is_dir():
        raise CannotRun(f"{node.root / 'sys/class'} cannot be read")
    return {
        name: {
            word: node.read(f"{NVME}/{name}/{word}").strip()
            for word in ("state", "model", "firmware_rev")
        }
        for name in node.names(NVME, "nvme*")
    }


def bios(node: Node) -> dict[str, Any]:
    words = ("bios_vendor", "bios_version", "bios_date")
    return {word: node.read(f"{DMI}/{word}").strip() for word in words}


def network_settings(node: Node) -> dict[str, Any]:
    """Tell speed and frame size of each interface with a device that is up.

    The speed is the kernel's text, in Mb/s; a virtual device has none, and says -1.
    """
    names = [name for name in node.names(NETWORK) if _is_up(node, name)]
    if not names:
        raise CannotRun(f"no network device below {node.root / NETWORK} is up")
    return {
        name: {word: node.read(f"{NETWORK}/{name}/{word}").strip() for word in ("speed", "mtu")}
        for name in names
    }


def _is_up(node: Node, name: str) -> bool:
    directory = f"{NETWORK}/{name}"
    has_device = (node.root / directory / "device").exists()
    return has_device and node.read(f"{directory}/operstate").strip() == "up"


def amd_ras(node: Node) -> dict[str, Any]:
    """Return what amdgpu counts of each block of each GPU, in the driver's words."""
    cards = [card for card in node.names(CARDS, "card[0-9]*") if _is_amd(node, card)]
    if not cards:
        raise CannotRun(f"there is no GPU of AMD below {node.root / CARDS}")
    return {card: _ras(node, f"{CARDS}/{card}/device/ras") for card in cards}


def _is_amd(node: Node, card: str) -> bool:
    vendor = node.root / CARDS / card / "device/vendor"
    return vendor.is_file() and vendor.read_text(encoding="ascii").strip() == AMD


def _ras(node: Node, directory: str) -> dict[str, Any]:
    counters = node.names(directory, "*_err_count")
    if not counters:
        raise CannotRun(f"{node.root / directory} counts no errors")
    return {
        "blocks": {
            name[: -len("_err_count")]: node.read(f"{directory}/{name}") for name in counters
        },
        "bad_pages": node.read(f"{directory}/gpu_vram_bad_pages"),
    }
