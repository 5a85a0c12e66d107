"""gpu-fryer's report: the matrix throughput of each GPU, and why it calls a node unhealthy.

It prints Gflops/s of 1e9 operations. A GPU without a single whole second has no numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from burnin.hardware_tests.parsers.number import amount, count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_DETECTED = re.compile(r"^Detected GPU #(\d{1,4}): (.+?)(?: \(([0-9a-f-]+)\))?$", re.MULTILINE)
_PRECISION = re.compile(r"^Using precision\(s\): +(FP32|BF16|FP8) *$", re.MULTILINE)
_GPU = re.compile(
    r"^GPU #(?P<index>\d{1,4}): +(?P<mean>\S+) Gflops/s"
    r" \(min: (?P<low>\S+), max: (?P<high>\S+), dev: \S+\)\n"
    r" +Temperature: \S+°C \(min: \S+, max: (?P<hottest>\S+)\)\n"
    r" +Throttling HW: (?P<hw>true|false), Thermal SW: (?P<thermal_sw>true|false),"
    r" Thermal HW: (?P<thermal_hw>true|false)$",
    re.MULTILINE,
)
_HEALTHY = "\nAll GPUs seem healthy\n"
_UNHEALTHY = "\nSome GPUs are not healthy. Reasons:\n"
_REASON = re.compile(r"^  - (GPU \d{1,4} - .+)$", re.MULTILINE)


@dataclass(frozen=True)
class FriedGpu:
    """One GPU over the run; what is None was never measured."""

    index: int
    name: str
    uuid: str | None
    mean_gflops: float | None
    lowest_gflops: float | None
    highest_gflops: float | None
    hottest_c: float | None
    throttle_reasons: tuple[str, ...]


@dataclass(frozen=True)
class GpuFryerReport:
    """A run that reached its verdict. `reasons` are gpu-fryer's own, none where it is content."""

    precision: str
    gpus: tuple[FriedGpu, ...]
    reasons: tuple[str, ...]


def parse(text: str) -> GpuFryerReport:
    """Return the report; raise ParseError when it stops before its verdict."""
    if not text.strip():
        raise ParseError("empty output: gpu-fryer wrote nothing", kind=RefusalKind.NO_DATA)
    names = {int(found[1]): found for found in _DETECTED.finditer(text)}
    if not names:
        line = text.strip().splitlines()[-1]
        raise ParseError(f"gpu-fryer lists no GPU: {line:.200}", kind=RefusalKind.SETUP_ERROR)
    healthy, unhealthy = _HEALTHY in text, _UNHEALTHY in text
    if not healthy and not unhealthy:
        raise ParseError("gpu-fryer's output has no verdict", kind=RefusalKind.TRUNCATED)
    precision = _PRECISION.search(text)
    if precision is None:
        raise ParseError("gpu-fryer names no precision, or several", kind=RefusalKind.MALFORMED)
    gpus = tuple(_gpu(found, names) for found in _GPU.finditer(text))
    reasons = tuple(_REASON.findall(text.partition(_UNHEALTHY)[2]))
    if healthy == bool(reasons) or [gpu.index for gpu in gpus] != sorted(names):
        raise ParseError(
            f"gpu-fryer found {len(names)} GPUs, reports {len(gpus)} and gives {len(reasons)}"
            " reasons against its verdict",
            kind=RefusalKind.CONTRADICTORY,
        )
    return GpuFryerReport(precision[1], gpus, reasons)


def _gpu(found: re.Match[str], names: dict[int, re.Match[str]]) -> FriedGpu:
    index = count(found["index"], "GPU #")
    if index not in names:
        raise ParseError(
            f"gpu-fryer reports GPU {index}, which it did not detect",
            kind=RefusalKind.CONTRADICTORY,
        )
    mean = amount(found["mean"], "Gflops/s")
    throttled = {"HW": "hw", "thermal SW": "thermal_sw", "thermal HW": "thermal_hw"}
    return FriedGpu(
        index=index,
        name=names[index][2].strip('"'),
        uuid=names[index][3],
        mean_gflops=mean or None,
        lowest_gflops=amount(found["low"], "min") if mean else None,
        highest_gflops=amount(found["high"], "max") if mean else None,
        hottest_c=amount(found["hottest"], "Temperature") if mean else None,
        throttle_reasons=tuple(why for why, key in throttled.items() if found[key] == "true"),
    )
