"""`nvidia-smi --query-gpu=… --format=csv` and --query-remapped-rows, with or without units.

A GPU that the driver has lost leaves a line of words instead of a row. The output has no end
mark: a caller checks the number of GPUs.
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass

from burnin.hardware_tests.parsers.nvidia_smi_words import (
    counted,
    is_lost,
    mask,
    measured,
    words,
    yes,
)
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_LOST_LINE = re.compile(
    r"Unable to determine the device handle for (?:gpu|GPU) ?\d*:? ?(?P<bus>[0-9A-Fa-f:]+\.\d+): .*"
)
_UNIT = re.compile(r"(?P<name>[a-z][a-z0-9_.]*)(?: \[(?P<unit>[^\]]+)\])?")

# What the bits of the throttle mask say (NVML's nvmlClocksEventReasons).
THROTTLE_REASONS = {
    0x1: "idle",
    0x2: "application clocks",
    0x4: "SW power cap",
    0x8: "HW slowdown",
    0x10: "sync boost",
    0x20: "SW thermal slowdown",
    0x40: "HW thermal slowdown",
    0x80: "HW power brake",
    0x100: "display clocks",
}
HARDWARE_THROTTLE = 0x8 | 0x40 | 0x80


@dataclass(frozen=True)
class NvidiaSmiGpu:
    """One row. None where the GPU does not tell, and where the column was not asked for.

    Error counts are volatile: since the driver was loaded.
    """

    index: int | None
    uuid: str | None
    name: str | None
    serial: str | None
    bus_id: str | None
    driver_version: str | None
    vbios_version: str | None
    persistence_enabled: bool | None
    pcie_generation: int | None
    pcie_generation_max: int | None
    pcie_width: int | None
    pcie_width_max: int | None
    temperature_c: float | None
    memory_temperature_c: float | None
    power_w: float | None
    sm_clock_mhz: float | None
    utilization_percent: float | None
    memory_total_mib: float | None
    memory_used_mib: float | None
    ecc_enabled: bool | None
    ecc_corrected: int | None
    ecc_uncorrected: int | None
    throttle_mask: int | None
    remapped_correctable: int | None
    remapped_uncorrectable: int | None
    remapping_pending: bool | None
    remapping_failed: bool | None

    @property
    def throttle_reasons(self) -> tuple[str, ...]:
        return tuple(
            why for bit, why in THROTTLE_REASONS.items() if (self.throttle_mask or 0) & bit
        )


@dataclass(frozen=True)
class NvidiaSmiQuery:
    """`columns` are those asked for, without unit; `lost` the bus ids of GPUs out of reach."""

    columns: tuple[str, ...]
    gpus: tuple[NvidiaSmiGpu, ...]
    lost: tuple[str, ...]


def parse(text: str) -> NvidiaSmiQuery:
    """Return the rows; raise ParseError where the last line is cut or a value has another unit."""
    if not text.endswith("\n"):
        raise ParseError("nvidia-smi's last line is cut", kind=RefusalKind.TRUNCATED)
    header, *lines = [line for line in text.splitlines() if line.strip()]
    names, units = _columns(header)
    lost_lines = [found for line in lines if (found := _LOST_LINE.fullmatch(line))]
    rows = [line for line in lines if not _LOST_LINE.fullmatch(line)]
    records = [_record(line, names) for line in rows]
    if not records and not lost_lines:
        raise ParseError("nvidia-smi's table has no row", kind=RefusalKind.NO_DATA)
    lost_rows = [record for record in records if is_lost(record)]
    return NvidiaSmiQuery(
        columns=tuple(names),
        gpus=tuple(_Reader(record, units).gpu() for record in records if record not in lost_rows),
        lost=(
            *(found["bus"] for found in lost_lines),
            *(record.get("pci.bus_id") or next(iter(record.values())) for record in lost_rows),
        ),
    )


def _columns(header: str) -> tuple[list[str], dict[str, str]]:
    found = [_UNIT.fullmatch(word.strip()) for word in header.split(",")]
    named = [each for each in found if each is not None]
    names = [each["name"] for each in named]
    if len(named) != len(found) or not any("." in name or name == "index" for name in names):
        raise ParseError(f"not a header of nvidia-smi: {header[:100]}", kind=RefusalKind.MALFORMED)
    return names, {each["name"]: each["unit"] or "" for each in named}


def _record(line: str, names: list[str]) -> dict[str, str]:
    cells = [cell.strip() for cell in next(csv.reader([line], skipinitialspace=True))]
    if len(cells) != len(names):
        raise ParseError(
            f"nvidia-smi's row has {len(cells)} values under {len(names)} columns: {line[:100]}",
            kind=RefusalKind.MALFORMED,
        )
    return dict(zip(names, cells, strict=True))


class _Reader:
    """Reads one row's columns under the names that several driver generations give them."""

    def __init__(self, record: dict[str, str], units: dict[str, str]) -> None:
        self._record, self._units = record, units

    def gpu(self) -> NvidiaSmiGpu:
        return NvidiaSmiGpu(
            index=self._count("index"),
            uuid=words(self._word("uuid", "gpu_uuid")),
            name=words(self._word("name", "gpu_name")),
            serial=words(self._word("serial", "gpu_serial")),
            bus_id=words(self._word("pci.bus_id", "gpu_bus_id")),
            driver_version=words(self._word("driver_version")),
            vbios_version=words(self._word("vbios_version")),
            persistence_enabled=self._yes("persistence_mode"),
            pcie_generation=self._count("pcie.link.gen.current", "pcie.link.gen.gpucurrent"),
            pcie_generation_max=self._count("pcie.link.gen.max"),
            pcie_width=self._count("pcie.link.width.current"),
            pcie_width_max=self._count("pcie.link.width.max"),
            temperature_c=self._measured("C", "temperature.gpu"),
            memory_temperature_c=self._measured("C", "temperature.memory"),
            power_w=self._measured("W", "power.draw", "power.draw.instant", "power.draw.average"),
            sm_clock_mhz=self._measured("MHz", "clocks.sm", "clocks.current.sm"),
            utilization_percent=self._measured("%", "utilization.gpu"),
            memory_total_mib=self._measured("MiB", "memory.total"),
            memory_used_mib=self._measured("MiB", "memory.used"),
            ecc_enabled=self._yes("ecc.mode.current"),
            ecc_corrected=self._count("ecc.errors.corrected.volatile.total"),
            ecc_uncorrected=self._count("ecc.errors.uncorrected.volatile.total"),
            throttle_mask=self._throttle_mask(),
            remapped_correctable=self._count("remapped_rows.correctable"),
            remapped_uncorrectable=self._count("remapped_rows.uncorrectable"),
            remapping_pending=self._yes("remapped_rows.pending"),
            remapping_failed=self._yes("remapped_rows.failure"),
        )

    def _word(self, *names: str) -> str | None:
        return next((self._record[name] for name in names if name in self._record), None)

    def _count(self, *names: str) -> int | None:
        return counted(self._word(*names), f"nvidia-smi's {names[0]}")

    def _yes(self, name: str) -> bool | None:
        return yes(self._word(name), f"nvidia-smi's {name}")

    def _throttle_mask(self) -> int | None:
        word = self._word("clocks_event_reasons.active", "clocks_throttle_reasons.active")
        return mask(word, "nvidia-smi's clocks_event_reasons.active")

    def _measured(self, unit: str, *names: str) -> float | None:
        """The first of the columns that holds a number counts; its header may hold the unit."""
        for name in names:
            where = f"nvidia-smi's {name}"
            if self._units.get(name, "") not in ("", unit):
                words_ = f"{where} is in {self._units[name]}, not in {unit}"
                raise ParseError(words_, kind=RefusalKind.MALFORMED)
            number = measured(self._record.get(name), unit, where)
            if number is not None:
                return number
        return None
