from __future__ import annotations

from functools import singledispatch
from typing import Any

from burnin.hardware_tests.parsers.nvidia_smi_csv import (
    HARDWARE_THROTTLE,
    THROTTLE_REASONS,
    NvidiaSmiGpu,
    NvidiaSmiQuery,
)
from burnin.hardware_tests.parsers.nvidia_smi_links import NvidiaSmiLinks, NvidiaSmiTopology
from burnin.hardware_tests.parsers.nvidia_smi_xml import NvidiaSmiLog
from burnin.tests.hardware_tests.parsers.corpus.comparison import Whole


@singledispatch
def as_expected(report: Any) -> dict[str, Any]:
    raise TypeError(type(report))


@as_expected.register
def _(log: NvidiaSmiLog) -> dict[str, Any]:
    gpu = log.gpus[0]
    return {
        "gpus": len(log.gpus),
        "name": gpu.name,
        "gpu_temp_C": gpu.temperature_c,
        "temp": None if gpu.temperature_c is None else f"{gpu.temperature_c:g} C",
        "power_W": gpu.power_w,
        "power_field": gpu.power_field,
        "performance_state": gpu.performance_state,
        "ecc_mode": {True: "Enabled", False: "Disabled", None: None}[gpu.ecc_enabled],
        "pcie_width": [f"{gpu.pcie_width}x", f"{gpu.pcie_width_max}x"],
        "pcie_gen": [str(gpu.pcie_generation), str(gpu.pcie_generation_max)],
    }


@as_expected.register
def _(query: NvidiaSmiQuery) -> dict[str, Any]:
    return _remapping(query) if "remapped_rows.pending" in query.columns else _faults(query)


def _remapping(query: NvidiaSmiQuery) -> dict[str, Any]:
    gpus = dict(enumerate(query.gpus))
    pending = [index for index, gpu in gpus.items() if gpu.remapping_pending]
    failed = [index for index, gpu in gpus.items() if gpu.remapping_failed]
    known = {index: gpu.remapped_uncorrectable for index, gpu in gpus.items()}
    return {
        "pending": pending,
        "failure": failed,
        "unsupported": [index for index, gpu in gpus.items() if gpu.remapping_failed is None],
        "uncorrectable": Whole({str(gpu): n for gpu, n in known.items() if n is not None}),
        "verdict": "failed" if pending or failed else "ok",
    }


def _faults(query: NvidiaSmiQuery) -> dict[str, Any]:
    degraded = {str(gpu.index): _link(gpu) for gpu in query.gpus if _is_degraded(gpu)}
    throttled = {str(gpu.index): _throttle(gpu) for gpu in query.gpus if _hardware(gpu)}
    uncorrected = {str(gpu.index): gpu.ecc_uncorrected for gpu in query.gpus}
    corrected = {str(gpu.index): gpu.ecc_corrected for gpu in query.gpus if gpu.ecc_corrected}
    faulty = bool(query.lost or degraded or throttled or any(uncorrected.values()))
    return {
        "gpus": len(query.gpus),
        "lost": list(query.lost),
        "link_degraded": Whole(degraded),
        "ecc_uncorrected": Whole(uncorrected),
        "ecc_corrected": Whole(corrected),
        "throttled": Whole(throttled),
        "verdict": "failed" if faulty else "ok",
    }


def _is_degraded(gpu: NvidiaSmiGpu) -> bool:
    now = (gpu.pcie_generation, gpu.pcie_width)
    return now != (gpu.pcie_generation_max, gpu.pcie_width_max)


def _link(gpu: NvidiaSmiGpu) -> dict[str, Any]:
    return {
        "gen": [gpu.pcie_generation, gpu.pcie_generation_max],
        "width": [gpu.pcie_width, gpu.pcie_width_max],
    }


def _hardware(gpu: NvidiaSmiGpu) -> int:
    return (gpu.throttle_mask or 0) & HARDWARE_THROTTLE


def _throttle(gpu: NvidiaSmiGpu) -> str:
    reasons = [f"{why} ({bit:#x})" for bit, why in THROTTLE_REASONS.items() if _hardware(gpu) & bit]
    return f"{gpu.throttle_mask:#x} = {' + '.join(reasons)}"


@as_expected.register
def _(links: NvidiaSmiLinks) -> dict[str, Any]:
    active = [link.active for gpu in links.gpus for link in gpu.links]
    return {
        "gpus": len(links.gpus),
        "links_up": active.count(True),
        "inactive": len(active) - active.count(True),
    }


@as_expected.register
def _(topology: NvidiaSmiTopology) -> dict[str, Any]:
    pairs = {
        (_number(row.device), _number(other)): how
        for row in topology.rows
        for other, how in row.reaches.items()
        if _number(row.device) < _number(other)
    }
    return {
        "p2p_ok_pairs": [list(pair) for pair, how in pairs.items() if how == "OK"],
        "not_supported_pairs": [list(pair) for pair, how in pairs.items() if how == "NS"],
    }


def _number(device: str) -> int:
    return int(device.removeprefix("GPU"))
