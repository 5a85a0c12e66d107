"""`nvidia-smi -q -x`, of drivers that call the same thing by different names.

ECC counts were nested (single_bit, double_bit) before they became sram and dram; throttle
reasons became event reasons, power readings GPU power readings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree import ElementTree

from burnin.hardware_tests.parsers.nvidia_smi_words import (
    counted,
    is_lost,
    measured,
    words,
    yes,
)
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_POWER_FIELDS = (
    *(f"gpu_power_readings/{name}" for name in
      ("power_draw", "instant_power_draw", "average_power_draw")),
    "power_readings/power_draw",
)  # fmt: skip
_REASON = re.compile(r"clocks_(?:throttle|event)_reasons?_(.+)")


@dataclass(frozen=True)
class NvidiaSmiEcc:
    """Errors of one memory since the driver was loaded (volatile) or ever (aggregate)."""

    corrected: int | None
    uncorrected: int | None


@dataclass(frozen=True)
class NvidiaSmiRemapping:
    """Rows of memory that were replaced. Pending needs a reset, failed a new GPU."""

    correctable: int | None
    uncorrectable: int | None
    pending: bool | None
    failed: bool | None


@dataclass(frozen=True)
class NvidiaSmiClocks:
    """Of the cores and of the memory. Newer drivers tell no application clocks."""

    graphics_mhz: float | None
    memory_mhz: float | None


@dataclass(frozen=True)
class NvidiaSmiXmlGpu:
    """One GPU; None where it does not tell, which is neither 0 nor good.

    `power_field` names the reading that `power_w` was taken from.
    """

    bus_id: str
    name: str | None
    uuid: str | None
    serial: str | None
    vbios_version: str | None
    persistence_enabled: bool | None
    performance_state: str | None
    pcie_generation: int | None
    pcie_generation_max: int | None
    pcie_width: int | None
    pcie_width_max: int | None
    pcie_replays: int | None
    temperature_c: float | None
    memory_temperature_c: float | None
    power_w: float | None
    power_field: str | None
    sm_clock_mhz: float | None
    memory_total_mib: float | None
    ecc_enabled: bool | None
    ecc_pending: bool | None
    volatile_ecc: NvidiaSmiEcc
    aggregate_ecc: NvidiaSmiEcc
    remapping: NvidiaSmiRemapping
    retired_pages: int | None
    retirement_pending: bool | None
    application_clocks: NvidiaSmiClocks
    max_clocks: NvidiaSmiClocks
    throttle_reasons: tuple[str, ...] | None
    fabric_state: str | None
    fabric_status: str | None
    processes: int | None


@dataclass(frozen=True)
class NvidiaSmiLog:
    """`lost` are the bus ids of GPUs that the driver does not reach any more."""

    driver_version: str | None
    gpus: tuple[NvidiaSmiXmlGpu, ...]
    lost: tuple[str, ...]


def parse(text: str) -> NvidiaSmiLog:
    """Return every GPU; raise ParseError where the XML is cut or a GPU of it is missing."""
    root = _root(text)
    elements = root.findall("gpu")
    if not elements:
        raise ParseError("nvidia-smi's XML lists no GPU", kind=RefusalKind.NO_DEVICE)
    attached = counted(root.findtext("attached_gpus"), "nvidia-smi's attached_gpus")
    if attached not in (None, len(elements)):
        raise ParseError(
            f"nvidia-smi has {attached} GPUs attached and lists {len(elements)}",
            kind=RefusalKind.CONTRADICTORY,
        )
    lost = [each for each in elements if is_lost(_leaves(each))]
    return NvidiaSmiLog(
        driver_version=words(root.findtext("driver_version")),
        gpus=tuple(_gpu(each) for each in elements if each not in lost),
        lost=tuple(each.get("id", "unknown") for each in lost),
    )


def _leaves(gpu: ElementTree.Element) -> dict[str, str]:
    return {leaf.tag: leaf.text or "" for leaf in gpu.iter() if not len(leaf) and leaf.text}


def _root(text: str) -> ElementTree.Element:
    if "<!ENTITY" in text:
        raise ParseError("nvidia-smi's XML declares entities", kind=RefusalKind.MALFORMED)
    try:
        root = ElementTree.fromstring(text.strip())
    except (ElementTree.ParseError, ValueError) as error:
        raise ParseError(
            f"nvidia-smi's XML is cut or damaged: {error}", kind=RefusalKind.TRUNCATED
        ) from None
    if root.tag != "nvidia_smi_log":
        raise ParseError(f"<{root.tag:.40}> is not nvidia-smi's XML", kind=RefusalKind.MALFORMED)
    return root


def _gpu(gpu: ElementTree.Element) -> NvidiaSmiXmlGpu:
    def count(path: str) -> int | None:
        return counted(gpu.findtext(path), f"nvidia-smi's {path}")

    def flag(path: str) -> bool | None:
        return yes(gpu.findtext(path), f"nvidia-smi's {path}")

    def number(path: str, unit: str) -> float | None:
        return measured(gpu.findtext(path), unit, f"nvidia-smi's {path}")

    def clocks(path: str) -> NvidiaSmiClocks:
        return NvidiaSmiClocks(
            number(f"{path}/graphics_clock", "MHz"), number(f"{path}/mem_clock", "MHz")
        )

    power_field = next((path for path in _POWER_FIELDS if words(gpu.findtext(path))), None)
    link = "pci/pci_gpu_link_info"
    return NvidiaSmiXmlGpu(
        bus_id=gpu.get("id", "unknown"),
        name=words(gpu.findtext("product_name")),
        uuid=words(gpu.findtext("uuid")),
        serial=words(gpu.findtext("serial")),
        vbios_version=words(gpu.findtext("vbios_version")),
        persistence_enabled=flag("persistence_mode"),
        performance_state=words(gpu.findtext("performance_state")),
        pcie_generation=count(f"{link}/pcie_gen/current_link_gen"),
        pcie_generation_max=count(f"{link}/pcie_gen/max_link_gen"),
        pcie_width=count(f"{link}/link_widths/current_link_width"),
        pcie_width_max=count(f"{link}/link_widths/max_link_width"),
        pcie_replays=count("pci/replay_counter"),
        temperature_c=number("temperature/gpu_temp", "C"),
        memory_temperature_c=number("temperature/memory_temp", "C"),
        power_w=number(power_field, "W") if power_field else None,
        power_field=power_field.rpartition("/")[2] if power_field else None,
        sm_clock_mhz=number("clocks/sm_clock", "MHz"),
        memory_total_mib=number("fb_memory_usage/total", "MiB"),
        ecc_enabled=flag("ecc_mode/current_ecc"),
        ecc_pending=flag("ecc_mode/pending_ecc"),
        volatile_ecc=_ecc(gpu.find("ecc_errors/volatile")),
        aggregate_ecc=_ecc(gpu.find("ecc_errors/aggregate")),
        remapping=NvidiaSmiRemapping(
            correctable=count("remapped_rows/remapped_row_corr"),
            uncorrectable=count("remapped_rows/remapped_row_unc"),
            pending=flag("remapped_rows/remapped_row_pending"),
            failed=flag("remapped_rows/remapped_row_failure"),
        ),
        retired_pages=_retired_pages(gpu),
        retirement_pending=flag("retired_pages/pending_retirement"),
        application_clocks=clocks("applications_clocks"),
        max_clocks=clocks("max_clocks"),
        throttle_reasons=_throttle_reasons(gpu),
        fabric_state=words(gpu.findtext("fabric/state")),
        fabric_status=words(gpu.findtext("fabric/status")),
        processes=_processes(gpu),
    )


def _ecc(memory: ElementTree.Element | None) -> NvidiaSmiEcc:
    """Add up what the driver's generation splits by memory, or take its own total."""
    if memory is None:
        return NvidiaSmiEcc(None, None)
    return NvidiaSmiEcc(
        corrected=_ecc_sum(memory, "correctable", "single_bit/total"),
        uncorrected=_ecc_sum(memory, "uncorrectable", "double_bit/total"),
    )


def _ecc_sum(memory: ElementTree.Element, kind: str, total: str) -> int | None:
    named = re.compile(rf"(?:sram|dram)_{kind}(?:_\w+)?")
    leaves = [leaf for leaf in memory if named.fullmatch(leaf.tag)]
    counts = [counted(leaf.text, f"nvidia-smi's {leaf.tag}") for leaf in leaves]
    counts = counts or [counted(memory.findtext(total), f"nvidia-smi's {total}")]
    known = [number for number in counts if number is not None]
    return sum(known) if known else None


def _retired_pages(gpu: ElementTree.Element) -> int | None:
    """Add up the pages retired for either cause; None where one is not told."""
    causes = ("multiple_single_bit_retirement", "double_bit_retirement")
    paths = [f"retired_pages/{cause}/retired_count" for cause in causes]
    counts = [counted(gpu.findtext(path), f"nvidia-smi's {path}") for path in paths]
    known = [number for number in counts if number is not None]
    return sum(known) if len(known) == len(paths) else None


def _throttle_reasons(gpu: ElementTree.Element) -> tuple[str, ...] | None:
    """Return the reasons that are active; None where the GPU tells none at all."""
    leaves = [
        (found[1], yes(leaf.text, f"nvidia-smi's {leaf.tag}"))
        for parent in ("clocks_throttle_reasons", "clocks_event_reasons")
        for leaf in gpu.findall(f"{parent}/*")
        if (found := _REASON.fullmatch(leaf.tag))
    ]
    known = [(reason, active) for reason, active in leaves if active is not None]
    return tuple(reason for reason, active in known if active) if known else None


def _processes(gpu: ElementTree.Element) -> int | None:
    processes = gpu.find("processes")
    return None if processes is None else len(processes.findall("process_info"))
