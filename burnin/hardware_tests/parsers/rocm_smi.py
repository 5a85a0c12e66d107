"""`rocm-smi --json`: every value is a string, with its unit in the key."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from burnin.hardware_tests.parsers import json_report
from burnin.hardware_tests.parsers.number import count, decimal
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_CARD = re.compile(r"card(\d{1,4})")
_POWER = (
    "Average Graphics Package Power (W)",
    "Current Socket Graphics Package Power (W)",
    "Current Graphics Package Power (W)",
)
_ABSENT = frozenset({"", "N/A", "None", "n/a", "unknown"})


@dataclass(frozen=True)
class RocmSmiCard:
    """One GPU; None where it does not tell, or was not asked."""

    index: int
    bus_id: str | None
    series: str | None
    serial: str | None
    unique_id: str | None
    vbios_version: str | None
    edge_temperature_c: float | None
    junction_temperature_c: float | None
    memory_temperature_c: float | None
    power_w: float | None
    power_limit_w: float | None
    utilization_percent: float | None
    memory_total_bytes: int | None
    memory_used_bytes: int | None
    pcie_replays: int | None
    performance_level: str | None


@dataclass(frozen=True)
class RocmSmiReport:
    """`links` says how two cards are connected ("XGMI", "PCIE"), by "0 and 1"."""

    driver_version: str | None
    cards: tuple[RocmSmiCard, ...]
    links: dict[str, str]


def parse(text: str) -> RocmSmiReport:
    """Return every card; raise ParseError where there is none or a value is no number."""
    if re.search(r"Driver not initialized|amdgpu not found|No AMD GPUs? ", text):
        raise ParseError(json_report.last_line(text), kind=RefusalKind.DRIVER_ERROR)
    document = json_report.only(text, tool="rocm-smi")
    cards = {
        found[1]: values for key, values in document.items() if (found := _CARD.fullmatch(key))
    }
    if not cards:
        raise ParseError("rocm-smi lists no card", kind=RefusalKind.NO_DEVICE)
    system = _Values("system", document.get("system", {}))
    return RocmSmiReport(
        driver_version=system.words("Driver version"),
        cards=tuple(_card(int(index), values) for index, values in cards.items()),
        links=system.ending_of("(Topology) Link type between DRM devices "),
    )


def _card(index: int, raw: Any) -> RocmSmiCard:
    card = _Values(f"card{index}", raw)
    return RocmSmiCard(
        index=index,
        bus_id=card.words("PCI Bus"),
        series=card.words("Card series", "Card Series"),
        serial=card.words("Serial Number"),
        unique_id=card.words("Unique ID"),
        vbios_version=card.words("VBIOS version"),
        edge_temperature_c=card.number("Temperature (Sensor edge) (C)"),
        junction_temperature_c=card.number("Temperature (Sensor junction) (C)"),
        memory_temperature_c=card.number("Temperature (Sensor memory) (C)"),
        power_w=card.number(*_POWER),
        power_limit_w=card.number("Max Graphics Package Power (W)"),
        utilization_percent=card.number("GPU use (%)"),
        memory_total_bytes=card.count("VRAM Total Memory (B)"),
        memory_used_bytes=card.count("VRAM Total Used Memory (B)"),
        pcie_replays=card.count("PCIe Replay Count"),
        performance_level=card.words("Performance Level"),
    )


class _Values:
    """One block of the document, read by key; the first of several names that is there counts."""

    def __init__(self, name: str, raw: Any) -> None:
        if not isinstance(raw, dict):
            raise ParseError(f"rocm-smi's {name} is no block", kind=RefusalKind.MALFORMED)
        self._name, self._raw = name, raw

    def words(self, *keys: str) -> str | None:
        for key in keys:
            text = str(self._raw.get(key, "")).strip()
            if text not in _ABSENT:
                return text
        return None

    def number(self, *keys: str) -> float | None:
        text = self.words(*keys)
        return None if text is None else decimal(text, f"rocm-smi's {self._name}, {keys[0]}")

    def count(self, *keys: str) -> int | None:
        text = self.words(*keys)
        return None if text is None else count(text, f"rocm-smi's {self._name}, {keys[0]}")

    def ending_of(self, beginning: str) -> dict[str, str]:
        found = (str(key) for key in self._raw if str(key).startswith(beginning))
        return {key.removeprefix(beginning): str(self._raw[key]) for key in found}
