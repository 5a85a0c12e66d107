"""nvme-cli: `nvme smart-log -o json` and `nvme list -o json`.

Numbers may be strings, and critical_warning may be an object (2.11 on). Temperatures are kelvin.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from burnin.hardware_tests.parsers import json_report
from burnin.hardware_tests.parsers.json_report import Edge
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

ZERO_CELSIUS_K = 273.15
PLAUSIBLE_K = (200, 450)

_FAILURES = (
    (RefusalKind.SETUP_ERROR, re.compile(r".*(?:Permission denied|not permitted).*")),
    (
        RefusalKind.NO_DEVICE,
        re.compile(r".*(?:No such (?:file|device)|Failed to scan|not a block or character).*"),
    ),
    (RefusalKind.TOOL_ERROR, re.compile(r"NVMe status: .*|.*(?:Input/output error).*")),
)


@dataclass(frozen=True)
class NvmeSmartLog:
    """One drive's health. `critical_warning` is the byte of flags, 0 for none.

    `temperature_k` is None where the drive reports 0, which means that it does not know.
    """

    critical_warning: int
    temperature_k: int | None
    available_spare_percent: int
    spare_threshold_percent: int
    used_percent: int
    media_errors: int
    error_log_entries: int
    unsafe_shutdowns: int
    power_on_hours: int
    data_read_bytes: int
    data_written_bytes: int

    @property
    def temperature_c(self) -> float | None:
        return None if self.temperature_k is None else self.temperature_k - ZERO_CELSIUS_K


@dataclass(frozen=True)
class NvmeDrive:
    path: str
    model: str
    serial: str
    firmware_version: str
    size_bytes: int


@dataclass(frozen=True)
class NvmeList:
    drives: tuple[NvmeDrive, ...]


def _flags(value: Any) -> Any:
    return value.get("value") if isinstance(value, dict) else value


_Count = Annotated[int, Field(ge=0)]
# A data unit is a thousand blocks of 512 bytes, whatever the drive's own block size.
_DATA_UNIT_BYTES = 512_000


class _SmartLog(Edge):
    critical_warning: Annotated[_Count, BeforeValidator(_flags), Field(le=255)]
    temperature: _Count
    avail_spare: _Count
    spare_thresh: _Count
    percent_used: _Count
    media_errors: _Count
    num_err_log_entries: _Count
    unsafe_shutdowns: _Count
    power_on_hours: _Count
    data_units_read: _Count
    data_units_written: _Count


class _Drive(Edge):
    path: str = Field(alias="DevicePath")
    model: str = Field(alias="ModelNumber", default="unknown")
    serial: str = Field(alias="SerialNumber", default="unknown")
    firmware: str = Field(alias="Firmware", default="unknown")
    size_bytes: int = Field(alias="PhysicalSize", ge=0)


def parse(text: str) -> NvmeSmartLog | NvmeList:
    """Return the log or the list; raise ParseError where nvme could not read the drive."""
    if "{" not in text:
        for kind, words in _FAILURES:
            if found := words.search(text):
                raise ParseError(found[0].strip(), kind=kind)
    document = json_report.only(text, tool="nvme")
    if "Devices" in document:
        return NvmeList(tuple(_drives(document["Devices"])))
    return _smart_log(json_report.validated(_SmartLog, document, tool="nvme"))


def _smart_log(log: _SmartLog) -> NvmeSmartLog:
    low_k, high_k = PLAUSIBLE_K
    if log.temperature and not low_k <= log.temperature <= high_k:
        raise ParseError(
            f"nvme reports {log.temperature} kelvin; is that another unit?",
            kind=RefusalKind.CONTRADICTORY,
        )
    return NvmeSmartLog(
        critical_warning=log.critical_warning,
        temperature_k=log.temperature or None,
        available_spare_percent=log.avail_spare,
        spare_threshold_percent=log.spare_thresh,
        used_percent=log.percent_used,
        media_errors=log.media_errors,
        error_log_entries=log.num_err_log_entries,
        unsafe_shutdowns=log.unsafe_shutdowns,
        power_on_hours=log.power_on_hours,
        data_read_bytes=log.data_units_read * _DATA_UNIT_BYTES,
        data_written_bytes=log.data_units_written * _DATA_UNIT_BYTES,
    )


def _drives(devices: Any) -> list[NvmeDrive]:
    """Read the list of nvme-cli 1, and that of 2, which nests namespaces below controllers."""
    if not isinstance(devices, list):
        raise ParseError("nvme's list of devices is none", kind=RefusalKind.MALFORMED)
    return [drive for device in devices for drive in _drives_of(device)]


def _drives_of(device: Any) -> list[NvmeDrive]:
    if not isinstance(device, dict):
        raise ParseError("nvme's list holds what is no device", kind=RefusalKind.MALFORMED)
    if "Subsystems" not in device:
        drive = json_report.validated(_Drive, device, tool="nvme")
        return [NvmeDrive(drive.path, drive.model, drive.serial, drive.firmware, drive.size_bytes)]
    return [
        _nested_drive(controller, namespace)
        for subsystem in _parts(device, "Subsystems")
        for controller in _parts(subsystem, "Controllers")
        for namespace in _parts(controller, "Namespaces")
    ]


def _parts(parent: dict[str, Any], name: str) -> list[dict[str, Any]]:
    parts = parent.get(name, [])
    if not isinstance(parts, list) or not all(isinstance(part, dict) for part in parts):
        raise ParseError(f"nvme's {name} are no list", kind=RefusalKind.MALFORMED)
    return parts


def _nested_drive(controller: dict[str, Any], namespace: dict[str, Any]) -> NvmeDrive:
    flat = {**controller, **namespace, "DevicePath": f"/dev/{namespace.get('NameSpace')}"}
    drive = json_report.validated(_Drive, flat, tool="nvme")
    return NvmeDrive(drive.path, drive.model, drive.serial, drive.firmware, drive.size_bytes)
