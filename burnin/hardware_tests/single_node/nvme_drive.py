"""One NVMe drive: its own health, by smartctl or by nvme-cli, and its speed, by fio."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers import nvme, smartctl
from burnin.hardware_tests.parsers.nvme import NvmeSmartLog
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.hardware_tests.single_node.storage_phases import read_phase

# Bits 3 to 7 of smartctl's exit status: the drive fails, or has failed, or logged an error.
_FAULT_BITS = {
    0x08: "smartctl says that it fails",
    0x10: "an attribute is below its threshold",
    0x20: "an attribute was below its threshold",
    0x40: "its error log has entries",
    0x80: "a self-test failed",
}


@dataclass(frozen=True)
class Drive:
    """`values` has a number for each metric, None for a speed that an I/O error broke off.

    `faults` are those that the drive tells of itself, `io_faults` those that fio met.
    """

    told: str
    faults: tuple[str, ...]
    io_faults: tuple[str, ...]
    values: Mapping[str, float | None]


@dataclass(frozen=True)
class DriveHealth:
    """`faults` says in words why the drive is bad; a good one has none."""

    media_errors: int
    used_percent: int
    faults: tuple[str, ...]


class _Identity(BaseModel):
    model_config = ConfigDict(frozen=True, strict=True)

    name: str = Field(pattern=r"^nvme\d+n\d+$")
    model: str
    serial: str


_IDENTITIES = TypeAdapter(list[_Identity])


def read_drives(artifact_collector: ArtifactCollector) -> list[Drive]:
    """Return each drive that the node has. Raises for each report that is missing or torn."""
    text = artifact_collector.get_custom_file("drives.json").read_text()
    try:
        identities = _IDENTITIES.validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise NotMeasured(f"drives.json cannot be used: {first['msg']}") from None
    names = [each.name for each in identities]
    if not names or len(set(names)) != len(names):
        raise NotMeasured("drives.json names no drive, or one twice")
    return [_drive(artifact_collector, each) for each in identities]


def _drive(artifact_collector: ArtifactCollector, identity: _Identity) -> Drive:
    def report(phase: str) -> str:
        return artifact_collector.get_custom_file(f"fio-{phase}-{identity.name}.json").read_text()

    health = read_health(artifact_collector, identity.name)
    read, random = (
        read_phase(f"{phase}-{identity.name}", report(phase)) for phase in ("read", "randread")
    )
    return Drive(
        told=f"{identity.name}, {identity.model}, serial {identity.serial}",
        faults=health.faults,
        io_faults=tuple(phase.fault for phase in (read, random) if phase.fault),
        values={
            "media_errors": health.media_errors,
            "wear": float(health.used_percent),
            "random_reads": random.transfer.iops if random.transfer else None,
            "read_bandwidth": read.transfer.bytes_per_s / 1e9 if read.transfer else None,
            "read_latency": random.p99_s * 1e6 if random.transfer else None,
        },
    )


def read_health(artifact_collector: ArtifactCollector, name: str) -> DriveHealth:
    """Read the one report there is of the drive. Raises NotMeasured or ParseError."""
    reports = artifact_collector.get_custom_files(f"smartctl-{name}.json")
    try:
        if reports:
            return _by_smartctl(name, reports[0].read_text())
        return _by_nvme(name, artifact_collector.get_custom_file(f"nvme-{name}.json").read_text())
    except ParseError as error:
        raise ParseError(f"the health of {name}: {error.reason}", kind=error.kind) from None


def _by_smartctl(name: str, text: str) -> DriveHealth:
    report = smartctl.parse(text)
    log = report.nvme
    if log is None or log.used_percent is None or log.spare_is_used_up is None:
        raise NotMeasured(f"smartctl tells too little of {name}: {'; '.join(report.messages)}")
    faults = [words for bit, words in _FAULT_BITS.items() if report.exit_status & bit]
    if report.passed is False and not faults:
        faults = [_FAULT_BITS[0x08]]
    faults += _common_faults(log.critical_warning, is_spare_used_up=log.spare_is_used_up)
    return DriveHealth(log.media_errors, log.used_percent, tuple(faults))


def _by_nvme(name: str, text: str) -> DriveHealth:
    log = nvme.parse(text)
    if not isinstance(log, NvmeSmartLog):
        raise NotMeasured(f"nvme did not tell the health of {name}")
    return DriveHealth(log.media_errors, log.used_percent, faults_of(log))


def faults_of(log: NvmeSmartLog) -> tuple[str, ...]:
    """Return in words what the drive warns of."""
    is_used_up = log.available_spare_percent < log.spare_threshold_percent
    return tuple(_common_faults(log.critical_warning, is_spare_used_up=is_used_up))


def _common_faults(critical_warning: int, *, is_spare_used_up: bool) -> list[str]:
    faults = [f"critical warning 0x{critical_warning:02x}"] if critical_warning else []
    return faults + (["its spare is used up"] if is_spare_used_up else [])
