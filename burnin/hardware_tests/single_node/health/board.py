"""PCIe links, and what the board's own controller has seen."""

from __future__ import annotations

import re

from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers import pci
from burnin.hardware_tests.parsers.pci import PciDevice, PciLink
from burnin.hardware_tests.single_node.health.section import Found, Reader, Section, listed, told

_ADAPTERS = ("Ethernet controller", "Infiniband controller", "InfiniBand controller")
_DRIVES = ("Non-Volatile memory controller",)
_CHECKS_SOURCE = re.compile(r"^\s+ACSCtl:\s+SrcValid\+", re.MULTILINE)
_EVENT = re.compile(r"^\s*[0-9a-f]+ \| ", re.MULTILINE)
_RELAXED = re.compile(r"^\s+DevCtl:(?:.*\n\s+)?.*\bRlxdOrd([+-])", re.MULTILINE).search
_REVISION = re.compile(r"^Firmware Revision\s*: (\S+)", re.MULTILINE)
_MAKER = re.compile(r"^Manufacturer Name\s*: (\S.*?)\s*$", re.MULTILINE)
_FAULT_EVENT = re.compile(
    r"AC lost|Uncorrectable|PCI SERR|Processor Throttled|BIOS corruption|ROM corruption", re.I
)
_READING = re.compile(r"^(.+?)\s*\| (.*?)\s*\| (\S+)\s*$", re.MULTILINE)
_SENSOR_IS_FINE = ("ok", "ns")  # "ns": no reading, as of an empty socket


def narrow_pcie_links(section: Section) -> Found:
    """Count GPUs, adapters and drives that use fewer lanes than they and their slot have."""
    linked = _linked(section)
    return listed(
        [_told(each, best) for each, best in linked if each.fell_off or _is_narrow(each, best)]
    )


def slow_pcie_links(section: Section) -> Found:
    """Count adapters and drives below their own and their slot's speed; GPUs at rest are slow."""
    linked = _linked(section)
    return listed(
        [_told(each, best) for each, best in linked if not each.is_gpu and _is_slow(each, best)]
    )


def access_control_bridges(section: Section) -> Found:
    section.parsed(pci.parse)
    text = section.said().text
    _refuse_denied(text)
    return len(_CHECKS_SOURCE.findall(text)), ""


def unrelaxed_devices(section: Section) -> Found:
    """Count adapters that may not order their writes freely: GPUs read the memory of others."""
    devices = {each.address: each for each in section.parsed(pci.parse).devices}
    text = section.said().text
    _refuse_denied(text)
    found = {
        block.split(" ", 1)[0]: flag[1] for block in text.split("\n\n") if (flag := _RELAXED(block))
    }
    adapters = [name for name, each in devices.items() if each.device_class in _ADAPTERS]
    silent = [name for name in adapters if name not in found and devices[name].capable]
    if silent or not (told := [name for name in adapters if name in found]):
        raise NotMeasured(f"lspci tells no DevCtl of {', '.join(silent) or 'any adapter'}")
    return listed([name for name in told if found[name] == "-"])


def bmc_versions(section: Section) -> Found:
    said = section.said()
    version, maker = _REVISION.search(said.text), _MAKER.search(said.text)
    if version is None:
        raise NotMeasured(f"ipmitool does not tell the firmware of the board: {said.words}")
    return told({f"{maker[1]} {version[1]}" if maker else version[1]})


def event_log_faults(section: Section) -> Found:
    said = section.said()
    lines = [line for line in said.text.splitlines() if line.strip()]
    is_empty = not lines and "no entries" in said.words
    if not is_empty and (said.exit_code or not lines or not all(map(_EVENT.match, lines))):
        raise NotMeasured(f"ipmitool does not show the event log: {said.words}")
    return listed([line.strip() for line in lines if _FAULT_EVENT.search(line)])


def failed_sensors(section: Section) -> Found:
    said = section.said()
    readings = _READING.findall(said.text)
    if said.exit_code or not readings:
        raise NotMeasured(f"ipmitool shows no sensor: {said.words}")
    bad = [reading for reading in readings if reading[2] not in _SENSOR_IS_FINE]
    return listed([f"{name}: {value} ({state})" for name, value, state in bad])


def _linked(section: Section) -> list[tuple[PciDevice, PciLink | None]]:
    """Return the GPUs, adapters and drives with a link, each with what it can be at best."""
    report = section.parsed(pci.parse)
    _refuse_denied(section.said().text)
    counted = [each for each in report.devices if _counts(each)]
    linked = [(each, report.possible(each)) for each in counted if each.fell_off or each.capable]
    if not linked:
        raise NotMeasured("lspci shows no GPU, adapter or drive with a link")
    return linked


def _refuse_denied(text: str) -> None:
    if "<access denied>" in text:
        raise NotMeasured("lspci may not read the links: run the job as root")


def _counts(device: PciDevice) -> bool:
    return device.is_gpu or device.device_class in (*_ADAPTERS, *_DRIVES)


def _is_narrow(device: PciDevice, best: PciLink | None) -> bool:
    status = device.status
    return best is not None and status is not None and status.width < best.width


def _is_slow(device: PciDevice, best: PciLink | None) -> bool:
    """A speed that lspci calls unknown is not a good one."""
    status = device.status
    if best is None or status is None or best.speed_gt_per_s is None:
        return True
    return status.speed_gt_per_s is None or status.speed_gt_per_s < best.speed_gt_per_s


def _told(device: PciDevice, best: PciLink | None) -> str:
    if device.fell_off:
        return f"{device.address}: fell off the bus"
    return f"{device.address}: {_link(device.status)} of {_link(best)}"


def _link(link: PciLink | None) -> str:
    return f"x{link.width} at {link.speed_gt_per_s} GT/s" if link else "no link"


READERS: dict[str, Reader] = {
    "narrow_pcie_links": narrow_pcie_links,
    "slow_pcie_links": slow_pcie_links,
    "access_control_bridges": access_control_bridges,
    "unrelaxed_devices": unrelaxed_devices,
    "bmc_versions": bmc_versions,
    "event_log_faults": event_log_faults,
    "failed_sensors": failed_sensors,
}
