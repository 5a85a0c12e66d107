"""What the kernel reports of broken hardware: NVSwitches, CPUs, memory, disks."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SXID = re.compile(
    r"nvidia-nvswitch(?P<switch>\d{1,4}):? SXid \((?:PCI:)?(?P<pci>[0-9a-fA-F:.]+)\): "
    r"(?P<sxid>\d{1,9}), (?P<rest>.*)"
)
_SXID_FATAL = re.compile(r"(Fatal|Non-fatal)\b")
_LINK = re.compile(r"\bLink (\d{1,4})\b")
_MACHINE_CHECK = re.compile(
    r"\[Hardware Error\]: CPU (?P<cpu>\d{1,6}): Machine Check(?: Exception)?: \S+ "
    r"Bank (?P<bank>\d{1,4}): (?P<status>[0-9a-fA-F]{1,16})\b"
    r"|\[Hardware Error\]: CPU:(?P<amd_cpu>\d{1,6}) \S+ MC(?P<amd_bank>\d{1,4})_STATUS"
    r"\[[^\]]*\]: (?P<amd_status>0x[0-9a-fA-F]{1,16})\b"
)
_UNCORRECTED = 1 << 61  # the UC bit of a machine check bank's status, of Intel's and AMD's alike
_EDAC = re.compile(
    r"EDAC (?P<controller>MC\d{1,4}): (?:(?P<count>\d{1,9}) )?(?P<kind>CE|UE)\b(?P<rest>.*)"
)
_EDAC_PLACE = re.compile(r'\bon (?P<place>\S+)|label "(?P<label>[^"]*)"')
_IO_ERRORS = (
    re.compile(
        r"\b(?:I/O|critical \w+|lost async page write|protection) error, dev (?P<dev>[\w-]+)"
    ),
    re.compile(r"Buffer I/O error on dev(?:ice)? (?P<dev>[\w-]+)"),
    re.compile(r"\b(?P<dev>nvme\d+n\d+): I/O Cmd\(.*I/O Error"),
    re.compile(r"EXT4-fs error \(device (?P<dev>[\w-]+)\)"),
    re.compile(r"XFS \((?P<dev>[\w-]+)\): .*I/O error"),
)


@dataclass(frozen=True)
class SxidEvent:
    """NVSwitch's own error number. `fatal` is None where the message does not say."""

    sxid: int
    switch: int
    pci: str
    fatal: bool | None
    link: int | None
    message: str


@dataclass(frozen=True)
class MachineCheck:
    """What a CPU's machine check bank held. It names a CPU or, through it, memory."""

    cpu: int
    bank: int
    corrected: bool
    message: str


@dataclass(frozen=True)
class EdacEvent:
    """Memory errors that a memory controller counted; `place` is the DIMM where it is named."""

    controller: str
    corrected: bool
    errors: int
    place: str | None
    message: str


@dataclass(frozen=True)
class IoError:
    """A block device, or a file system on it, that failed to read or write."""

    device: str
    message: str


def sxid(message: str) -> SxidEvent | None:
    found = _SXID.search(message)
    if found is None:
        return None
    fatal, link = _SXID_FATAL.search(found["rest"]), _LINK.search(found["rest"])
    return SxidEvent(
        sxid=int(found["sxid"]),
        switch=int(found["switch"]),
        pci=found["pci"],
        fatal=fatal[1] == "Fatal" if fatal else None,
        link=int(link[1]) if link else None,
        message=message,
    )


def machine_check(message: str) -> MachineCheck | None:
    found = _MACHINE_CHECK.search(message)
    if found is None:
        return None
    status = int(found["status"] or found["amd_status"], 16)
    return MachineCheck(
        cpu=int(found["cpu"] or found["amd_cpu"]),
        bank=int(found["bank"] or found["amd_bank"]),
        corrected=not status & _UNCORRECTED,
        message=message,
    )


def edac(message: str) -> EdacEvent | None:
    found = _EDAC.search(message)
    if found is None:
        return None
    place = _EDAC_PLACE.search(found["rest"])
    return EdacEvent(
        controller=found["controller"],
        corrected=found["kind"] == "CE",
        errors=int(found["count"] or 1),
        place=(place["place"] or place["label"]) if place else None,
        message=message,
    )


def io_error(message: str) -> IoError | None:
    found = next((match for form in _IO_ERRORS if (match := form.search(message))), None)
    return IoError(found["dev"], message) if found else None
