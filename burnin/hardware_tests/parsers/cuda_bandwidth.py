"""CUDA's bandwidthTest. Old versions print MB/s of 2**20 bytes, new ones GB/s of 1e9."""

from __future__ import annotations

import re
from dataclasses import dataclass

from burnin.hardware_tests.parsers.number import amount, count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

BYTES_OF_UNIT = {"MB/s": float(1 << 20), "GB/s": 1e9}

_SECTION = re.compile(r"(Host to Device|Device to Host|Device to Device) Bandwidth, (\d+) Device")
_UNIT = re.compile(r"Transfer Size \(Bytes\)\s+Bandwidth\((MB/s|GB/s)\)")
_ROW = re.compile(r"(\d+)\s+(\S+)")
_RESULT = re.compile(r"Result = (\w+)")
_DEVICE = re.compile(r"Device (\d{1,4}): (.+)")
_ERROR = re.compile(r".*CUDA error.*|.*no CUDA-capable device.*|cudaGetDevice\w* returned .*", re.I)


@dataclass(frozen=True)
class Transfer:
    """One line: how fast `size_bytes` went, over all devices together, in the printed unit."""

    direction: str
    size_bytes: int
    printed_rate: float
    printed_unit: str
    devices: int

    @property
    def bytes_per_s(self) -> float:
        return self.printed_rate * BYTES_OF_UNIT[self.printed_unit]


@dataclass(frozen=True)
class BandwidthTestReport:
    """A run that reached its result. `result` is the tool's word: PASS or FAIL."""

    device_names: tuple[str, ...]
    transfers: tuple[Transfer, ...]
    result: str

    @property
    def passed(self) -> bool:
        return self.result == "PASS"

    def fastest(self, direction: str) -> Transfer | None:
        """Return the fastest line of "Host to Device" and the like."""
        found = [each for each in self.transfers if each.direction == direction]
        return max(found, key=lambda each: each.bytes_per_s, default=None)


def parse(text: str) -> BandwidthTestReport:
    """Return the report; raise ParseError when it stops before its result."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    results = [found[1] for line in lines if (found := _RESULT.fullmatch(line))]
    error = next((line for line in lines if _ERROR.match(line)), None)
    if error is not None and not results:
        raise ParseError(f"bandwidthTest: {error:.200}", kind=RefusalKind.ERROR)
    if not results:
        raise ParseError("bandwidthTest's output has no result", kind=RefusalKind.TRUNCATED)
    transfers = _transfers(lines)
    if len(results) > 1 or results[0] not in ("PASS", "FAIL") or not transfers:
        raise ParseError(
            f"bandwidthTest gives {len(transfers)} rates and the results {', '.join(results):.80}",
            kind=RefusalKind.CONTRADICTORY,
        )
    return BandwidthTestReport(
        device_names=tuple(
            found[2].strip() for line in lines if (found := _DEVICE.fullmatch(line))
        ),
        transfers=transfers,
        result=results[0],
    )


def _transfers(lines: list[str]) -> tuple[Transfer, ...]:
    transfers: list[Transfer] = []
    section: re.Match[str] | None = None
    unit: str | None = None
    for line in lines:
        if started := _SECTION.match(line):
            section, unit = started, None
        elif named := _UNIT.fullmatch(line):
            unit = named[1]
        elif section and unit and (row := _ROW.fullmatch(line)):
            transfers.append(
                Transfer(
                    direction=section[1],
                    size_bytes=count(row[1], "transfer size"),
                    printed_rate=amount(row[2], section[1]),
                    printed_unit=unit,
                    devices=count(section[2], "devices"),
                )
            )
    return tuple(transfers)
