"""`smartctl -j -a` (or -x) of NVMe and ATA drives.

smartctl's own "passed" is one fact of several: a drive whose spare is used up may still pass.
The exit status is a bit mask: bits 0 to 2 mean that something could not be read.
"""

from __future__ import annotations

from dataclasses import dataclass

from pydantic import Field

from burnin.hardware_tests.parsers import json_report
from burnin.hardware_tests.parsers.json_report import Edge
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

COMMAND_LINE, OPEN_FAILED, COMMAND_FAILED = 0x1, 0x2, 0x4
_REALLOCATED, _PENDING, _UNCORRECTABLE, _CRC = 5, 197, 198, 199


@dataclass(frozen=True)
class SmartctlNvmeHealth:
    """The drive's own health log. None where the drive does not tell."""

    critical_warning: int
    available_spare_percent: int | None
    spare_threshold_percent: int | None
    used_percent: int | None
    media_errors: int
    error_log_entries: int | None
    unsafe_shutdowns: int | None
    temperature_c: int | None

    @property
    def spare_is_used_up(self) -> bool | None:
        if self.available_spare_percent is None or self.spare_threshold_percent is None:
            return None
        return self.available_spare_percent < self.spare_threshold_percent


@dataclass(frozen=True)
class SmartctlAtaHealth:
    """Raw counts of the attributes that foretell a failure; None where the drive has none."""

    reallocated_sectors: int | None
    pending_sectors: int | None
    uncorrectable_sectors: int | None
    crc_errors: int | None


@dataclass(frozen=True)
class SmartctlReport:
    """`passed` is smartctl's verdict, None where it gives none."""

    device: str
    protocol: str
    model: str | None
    serial: str | None
    firmware_version: str | None
    capacity_bytes: int | None
    exit_status: int
    passed: bool | None
    temperature_c: float | None
    power_on_hours: int | None
    nvme: SmartctlNvmeHealth | None
    ata: SmartctlAtaHealth | None
    messages: tuple[str, ...]


class _Message(Edge):
    string: str
    severity: str = ""


class _Run(Edge):
    exit_status: int = Field(ge=0, le=255)
    messages: tuple[_Message, ...] = ()


class _Device(Edge):
    name: str
    protocol: str = "unknown"


class _Passed(Edge):
    passed: bool


class _Capacity(Edge):
    size_bytes: int = Field(alias="bytes", ge=0)


class _Temperature(Edge):
    current: float


class _Hours(Edge):
    hours: int = Field(ge=0)


class _NvmeLog(Edge):
    critical_warning: int = Field(ge=0, le=255)
    available_spare: int | None = None
    available_spare_threshold: int | None = None
    percentage_used: int | None = None
    media_errors: int = Field(ge=0)
    num_err_log_entries: int | None = None
    unsafe_shutdowns: int | None = None
    temperature: int | None = None


class _Raw(Edge):
    value: int


class _Attribute(Edge):
    id: int
    raw: _Raw


class _Attributes(Edge):
    table: tuple[_Attribute, ...] = ()


class _Report(Edge):
    smartctl: _Run
    device: _Device | None = None
    model_name: str | None = None
    serial_number: str | None = None
    firmware_version: str | None = None
    user_capacity: _Capacity | None = None
    smart_status: _Passed | None = None
    temperature: _Temperature | None = None
    power_on_time: _Hours | None = None
    nvme_log: _NvmeLog | None = Field(alias="nvme_smart_health_information_log", default=None)
    ata_attributes: _Attributes | None = Field(alias="ata_smart_attributes", default=None)


def parse(text: str) -> SmartctlReport:
    """Return the drive's health; raise ParseError where smartctl could not read it."""
    document = json_report.only(text, tool="smartctl")
    report = json_report.validated(_Report, document, tool="smartctl")
    if report.device is None or (report.nvme_log is None and report.ata_attributes is None):
        raise _without_health(report.smartctl)
    ata = report.ata_attributes
    return SmartctlReport(
        device=report.device.name,
        protocol=report.device.protocol,
        model=report.model_name,
        serial=report.serial_number,
        firmware_version=report.firmware_version,
        capacity_bytes=report.user_capacity.size_bytes if report.user_capacity else None,
        exit_status=report.smartctl.exit_status,
        passed=report.smart_status.passed if report.smart_status else None,
        temperature_c=report.temperature.current if report.temperature else None,
        power_on_hours=report.power_on_time.hours if report.power_on_time else None,
        nvme=_nvme(report.nvme_log) if report.nvme_log else None,
        ata=_ata(ata) if ata else None,
        messages=tuple(message.string for message in report.smartctl.messages),
    )


def _without_health(run: _Run) -> ParseError:
    words = next((each.string for each in run.messages if each.severity == "error"), "")
    if run.exit_status & OPEN_FAILED or "Unable to detect device type" in words:
        kind = RefusalKind.NO_DEVICE
    elif run.exit_status & COMMAND_LINE:
        kind = RefusalKind.USAGE
    else:
        kind = RefusalKind.NO_DATA
    return ParseError(
        words or "smartctl's report holds no health of the drive",
        kind=kind,
        facts={"exit_status": run.exit_status},
    )


def _nvme(log: _NvmeLog) -> SmartctlNvmeHealth:
    return SmartctlNvmeHealth(
        critical_warning=log.critical_warning,
        available_spare_percent=log.available_spare,
        spare_threshold_percent=log.available_spare_threshold,
        used_percent=log.percentage_used,
        media_errors=log.media_errors,
        error_log_entries=log.num_err_log_entries,
        unsafe_shutdowns=log.unsafe_shutdowns,
        temperature_c=log.temperature,
    )


def _ata(attributes: _Attributes) -> SmartctlAtaHealth:
    raw = {attribute.id: attribute.raw.value for attribute in attributes.table}
    return SmartctlAtaHealth(
        reallocated_sectors=raw.get(_REALLOCATED),
        pending_sectors=raw.get(_PENDING),
        uncorrectable_sectors=raw.get(_UNCORRECTABLE),
        crc_errors=raw.get(_CRC),
    )
