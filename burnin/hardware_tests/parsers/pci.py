"""`lspci -vv`: what each device's link can do, and what it does.

The numbers are compared, not the words: older pciutils print no "(downgraded)". Bridges and
service devices run below their maximum by design, and an idle GPU may: a caller chooses by class
and measures under load.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from burnin.hardware_tests.parsers.json_report import last_line
from burnin.hardware_tests.parsers.number import amount, count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_DEVICE = re.compile(
    r"((?:[0-9a-f]{4,8}:)?[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]) ([^:\n]+): ([^\n]*)", re.MULTILINE
)
_CAPABLE = re.compile(r"^[ \t]+LnkCap:.*?Speed (\S+?)(?:GT/s)?, Width x(\d{1,3})\b", re.MULTILINE)
_STATUS = re.compile(
    r"^[ \t]+LnkSta:[ \t]+Speed (\S+?)(?:GT/s)?(?: \([a-z]+\))?, Width x(\d{1,3})\b", re.MULTILINE
)
_SECONDARY = re.compile(r"^[ \t]+Bus: primary=[0-9a-f]{2}, secondary=([0-9a-f]{2}),", re.MULTILINE)
_REVISION = re.compile(r"\(rev ([0-9a-f]{2})\)")
_GPU_CLASSES = ("3D controller", "VGA compatible controller", "Display controller")
_GPU_CLASSES_OF_AMD = ("Processing accelerators",)


@dataclass(frozen=True)
class PciLink:
    """`speed_gt_per_s` is None where lspci calls it unknown."""

    speed_gt_per_s: float | None
    width: int


@dataclass(frozen=True)
class PciDevice:
    """One function. A link is None where the device has none, or we may not read it (no root).

    `fell_off` means that the device answers with all ones: it is listed and not there.
    `secondary_bus` is of a bridge: the bus behind it, written as addresses begin.
    """

    address: str
    device_class: str
    description: str
    revision: str | None
    capable: PciLink | None
    status: PciLink | None
    fell_off: bool
    secondary_bus: str = ""

    @property
    def bus(self) -> str:
        return self.address.rpartition(":")[0]

    @property
    def is_gpu(self) -> bool:
        is_display = self.device_class in _GPU_CLASSES and "NVIDIA" in self.description
        amd_classes = (*_GPU_CLASSES, *_GPU_CLASSES_OF_AMD)
        return is_display or (self.device_class in amd_classes and "AMD" in self.description)

    @property
    def is_degraded(self) -> bool | None:
        """Say whether the link is slower or narrower than it could be; None if unknown."""
        if self.capable is None or self.status is None:
            return None
        if self.capable.speed_gt_per_s is None or self.status.speed_gt_per_s is None:
            return None
        slower = self.status.speed_gt_per_s < self.capable.speed_gt_per_s
        return slower or self.status.width < self.capable.width


@dataclass(frozen=True)
class PciReport:
    devices: tuple[PciDevice, ...]

    def possible(self, device: PciDevice) -> PciLink | None:
        """Return what the device's link can be at best: no more than the bridge above it can.

        The device's own maximum where lspci tells nothing of the bridge; None without a link.
        """
        own = device.capable
        above = next((each for each in self.devices if each.secondary_bus == device.bus), None)
        if own is None or above is None or above.capable is None:
            return own
        speeds = (own.speed_gt_per_s, above.capable.speed_gt_per_s)
        known = [each for each in speeds if each is not None]
        least = min(known) if len(known) == len(speeds) else own.speed_gt_per_s
        return PciLink(least, min(own.width, above.capable.width))


def parse(text: str) -> PciReport:
    """Return every device; raise ParseError where the last one is cut."""
    if not text.strip():
        raise ParseError("empty output: lspci lists no device", kind=RefusalKind.NO_DATA)
    blocks = [block for block in re.split(r"\n\n+", text.strip("\n")) if block.strip()]
    found = [_DEVICE.match(block) for block in blocks]
    if not all(found):
        raise ParseError(f"not lspci's output: {last_line(text)}", kind=RefusalKind.MALFORMED)
    # Under -v, lspci ends every device with an empty line.
    if not text.endswith("\n\n"):
        raise ParseError("lspci's last device is cut", kind=RefusalKind.TRUNCATED)
    return PciReport(
        tuple(_device(block, head) for block, head in zip(blocks, found, strict=True) if head)
    )


def _device(block: str, head: re.Match[str]) -> PciDevice:
    address, device_class, description = head.groups()
    revision = _REVISION.search(description)
    fell_off = (revision is not None and revision[1] == "ff") or "Unknown header type" in block
    capable, status = _link(_CAPABLE, block, address), _link(_STATUS, block, address)
    if capable is not None and status is None and not fell_off:
        raise ParseError(f"lspci tells no LnkSta of {address}", kind=RefusalKind.TRUNCATED)
    behind = _SECONDARY.search(block)
    domain = address[: -len("00:00.0")]
    return PciDevice(
        address=address,
        device_class=device_class,
        description=description,
        revision=revision[1] if revision else None,
        capable=capable,
        status=status,
        fell_off=fell_off,
        secondary_bus=f"{domain}{behind[1]}" if behind else "",
    )


def _link(pattern: re.Pattern[str], block: str, address: str) -> PciLink | None:
    found = pattern.search(block)
    if found is None:
        return None
    speed, where = found[1], f"the link of {address}"
    known = None if speed == "unknown" else amount(speed, where)
    return PciLink(known, count(found[2], where))
