"""What nvidia-smi tells of each GPU."""

from __future__ import annotations

import re
from collections.abc import Callable

from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers import nvidia_smi_xml
from burnin.hardware_tests.parsers.nvidia_smi import parse
from burnin.hardware_tests.parsers.nvidia_smi_xml import NvidiaSmiLog, NvidiaSmiXmlGpu
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind
from burnin.hardware_tests.single_node.health.section import (
    Found,
    Reader,
    Section,
    ToolEnd,
    growth,
    highest,
    listed,
    lowest,
    told,
)

# Bits 0x1 and 0x4 of the mask: a GPU at rest, and one at its power limit.
HARMLESS_REASONS = frozenset({"gpu_idle", "sw_power_cap"})
_CORRUPT_INFOROM = re.compile(r"infoROM is corrupted at gpu (\S+)")

ASKED_OF_SMI = frozenset(
    {"nvidia_smi", "nvidia_smi_growth", "nvidia_smi_table", "nvidia_nvlinks"}
    | {"nvidia_nvlink_errors", "nvidia_topology"}
)

Value = Callable[[NvidiaSmiXmlGpu], float | None]
Flag = Callable[[NvidiaSmiXmlGpu], bool | None]


def smi_responds(section: Section) -> Found:
    """A tool that hangs or fails has met a driver or a GPU that does not answer."""
    end = section.shaped(ToolEnd)
    if end.hung_s is not None:
        return 0, f"nvidia-smi gave no answer within {end.hung_s:.0f} s"
    return (1, "") if end.exit_code == 0 else (0, f"exit {end.exit_code}: {end.words}")


def gpu_count(section: Section) -> Found:
    try:
        log = _log(section)
    except ParseError as error:
        if error.kind is RefusalKind.NO_DEVICE:
            return 0, error.reason
        raise
    return len(log.gpus), f"out of reach: {', '.join(log.lost)}" if log.lost else ""


def corrupt_inforoms(section: Section) -> Found:
    said = section.said()
    if "NVIDIA-SMI" not in said.text:
        raise NotMeasured(f"nvidia-smi shows no table: {said.words}")
    return listed(sorted(set(_CORRUPT_INFOROM.findall(said.text + said.words))))


def vbios_versions(section: Section) -> Found:
    versions = {name: gpu.vbios_version for name, gpu in _gpus(section).items()}
    if not all(versions.values()):
        raise NotMeasured("a GPU does not tell its VBIOS")
    return told({str(version) for version in versions.values()})


def driver_versions(section: Section) -> Found:
    version = _log(section).driver_version
    if version is None:
        raise NotMeasured("nvidia-smi does not tell its driver's version")
    return told({version})


def throttled_gpus(section: Section) -> Found:
    def is_throttled(gpu: NvidiaSmiXmlGpu) -> bool | None:
        reasons = gpu.throttle_reasons
        return None if reasons is None else bool(set(reasons) - HARMLESS_REASONS)

    return _counted(is_throttled, "clock event reasons")(section)


def gpus_off_fabric(section: Section) -> Found:
    def is_off(gpu: NvidiaSmiXmlGpu) -> bool | None:
        if gpu.fabric_state is None:
            return None
        return (gpu.fabric_state, gpu.fabric_status) != ("Completed", "Success")

    return _counted(is_off, "fabric state")(section)


def _counted(is_bad: Flag, what: str) -> Reader:
    """Count the GPUs of which something bad is true, and name them."""

    def read(section: Section) -> Found:
        flags = {name: is_bad(gpu) for name, gpu in _gpus(section).items()}
        if silent := [name for name, flag in flags.items() if flag is None]:
            raise NotMeasured(f"{', '.join(silent)} does not tell its {what}")
        return listed([name for name, flag in flags.items() if flag])

    return read


def _highest(value: Value, what: str) -> Reader:
    return lambda section: highest({name: value(gpu) for name, gpu in _gpus(section).items()}, what)


def _lowest(value: Value, what: str) -> Reader:
    return lambda section: lowest({name: value(gpu) for name, gpu in _gpus(section).items()}, what)


def _growth(value: Callable[[NvidiaSmiXmlGpu], int | None], what: str) -> Reader:
    def read(section: Section) -> Found:
        before, after = (
            {name: value(gpu) for name, gpu in _gpus(section, end).items()}
            for end in ("before", "after")
        )
        return growth(before, after, what)

    return read


def _not(flag: bool | None) -> bool | None:
    return None if flag is None else not flag


def _without_ecc(gpu: NvidiaSmiXmlGpu) -> bool | None:
    """ECC that the next reset would switch off is as good as off."""
    if gpu.ecc_enabled is None or gpu.ecc_pending is None:
        return None
    return not (gpu.ecc_enabled and gpu.ecc_pending)


def _lowered(gpu: NvidiaSmiXmlGpu) -> bool | None:
    """A clock below the highest that the GPU has costs speed, and no error tells of it."""
    now, most = gpu.application_clocks, gpu.max_clocks
    pairs = ((now.graphics_mhz, most.graphics_mhz), (now.memory_mhz, most.memory_mhz))
    known = [(clock, limit) for clock, limit in pairs if clock is not None and limit is not None]
    return any(clock < limit for clock, limit in known) if len(known) == len(pairs) else None


def _gpus(section: Section, label: str = "") -> dict[str, NvidiaSmiXmlGpu]:
    log = _log(section, label)
    if log.lost:
        raise NotMeasured(f"the driver does not reach {', '.join(log.lost)}")
    return {f"GPU {at} ({gpu.bus_id})": gpu for at, gpu in enumerate(log.gpus)}


def _log(section: Section, label: str = "") -> NvidiaSmiLog:
    log = section.parsed(parse, label)
    if not isinstance(log, nvidia_smi_xml.NvidiaSmiLog):
        raise NotMeasured("nvidia-smi did not write XML")
    return log


READERS: dict[str, Reader] = {
    "smi_responds": smi_responds,
    "gpu_count": gpu_count,
    "gpus_without_ecc": _counted(_without_ecc, "ECC mode"),
    "uncorrected_ecc_errors": _highest(
        lambda gpu: gpu.volatile_ecc.uncorrected, "uncorrected errors"
    ),
    "corrected_ecc_errors": _highest(lambda gpu: gpu.volatile_ecc.corrected, "corrected errors"),
    "pending_row_remaps": _counted(lambda gpu: gpu.remapping.pending, "pending remaps"),
    "failed_row_remaps": _counted(lambda gpu: gpu.remapping.failed, "failed remaps"),
    "remapped_rows": _highest(lambda gpu: gpu.remapping.uncorrectable, "remapped rows"),
    "pending_page_retirements": _counted(
        lambda gpu: gpu.retirement_pending, "pending page retirements"
    ),
    "retired_pages": _highest(lambda gpu: gpu.retired_pages, "retired pages"),
    "lowered_application_clocks": _counted(_lowered, "application clocks"),
    "application_clock": _lowest(
        lambda gpu: gpu.application_clocks.graphics_mhz, "application clocks"
    ),
    "application_memory_clock": _lowest(
        lambda gpu: gpu.application_clocks.memory_mhz, "application clocks"
    ),
    "driver_versions": driver_versions,
    "gpu_temperature": _highest(lambda gpu: gpu.temperature_c, "temperature"),
    "throttled_gpus": throttled_gpus,
    "gpus_without_persistence": _counted(
        lambda gpu: _not(gpu.persistence_enabled), "persistence mode"
    ),
    "vbios_versions": vbios_versions,
    "pcie_width": _lowest(lambda gpu: gpu.pcie_width, "PCIe width"),
    "pcie_generation": _lowest(lambda gpu: gpu.pcie_generation_max, "PCIe generation"),
    "gpu_processes": _highest(lambda gpu: gpu.processes, "processes"),
    "gpus_off_fabric": gpus_off_fabric,
    "corrupt_inforoms": corrupt_inforoms,
    "new_uncorrected_ecc_errors": _growth(
        lambda gpu: gpu.volatile_ecc.uncorrected, "uncorrected errors"
    ),
    "new_corrected_ecc_errors": _growth(lambda gpu: gpu.volatile_ecc.corrected, "corrected errors"),
    "new_pcie_replays": _growth(lambda gpu: gpu.pcie_replays, "PCIe replays"),
}
