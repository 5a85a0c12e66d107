"""What the shipped resource classes are made of, and which tests are for which hardware."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from fleet.hardware import AMD, NO_GPU, NVIDIA, Hardware, Part

# What every server with GPUs has. One that is a virtual machine's lacks it: take it from its class.
_SERVER = frozenset({Part.PCIE_LINKS, Part.NVME, Part.BOARD})
_BOARD = frozenset(
    {
        Part.GPU_LANES,
        Part.NVLINK,
        Part.NVSWITCH,
        Part.FABRIC,
        Part.RDMA,
        Part.RDMA_RAILS,
        *_SERVER,
    }
)
# A tray of the rack: four GPUs beside their CPUs, the switches in trays of their own.
_TRAY = _SERVER | {Part.NVLINK, Part.FABRIC, Part.IMEX, Part.RDMA}

HARDWARE: Mapping[str, Hardware] = MappingProxyType(
    {
        each.resource_class: each
        for each in (
            Hardware("cpu-generic", 0, NO_GPU),
            # The driver tells a fabric's state from the H100 on.
            Hardware("a100-sxm4-80g-8x", 8, NVIDIA, _BOARD - {Part.FABRIC}),
            Hardware("h100-sxm5-8x", 8, NVIDIA, _BOARD),
            Hardware("h200-8x", 8, NVIDIA, _BOARD),
            Hardware("b200-8x", 8, NVIDIA, _BOARD),
            Hardware("gb200-nvl72", 4, NVIDIA, _TRAY),
            Hardware("mi300x-8x", 8, AMD, _SERVER | {Part.RDMA, Part.RDMA_RAILS}),
            Hardware("l40s-8x", 8, NVIDIA, _SERVER | {Part.GPU_LANES}),
        )
    }
)


def hardware_of(resource_class: str) -> Hardware:
    """Return what a shipped class is made of. Raises KeyError for one of an operator.

    A row of the inventory says it of every class.
    """
    return HARDWARE[resource_class]


def why_unfit(gpu_makers: frozenset[str], hardware: Hardware) -> str:
    """Say why a test that needs GPUs of one of these makers cannot run there; "" if it can.

    No makers: the test runs on any node. NO_GPU among them: on nodes without GPUs too.
    """
    maker = hardware.gpu_maker
    if not gpu_makers or maker in gpu_makers:
        return ""
    makers = " or ".join(sorted(gpu_makers - {NO_GPU}))
    wanted = f"{makers}, or none" if NO_GPU in gpu_makers else makers
    found = f"GPUs of {maker}" if maker else "no GPUs"
    return f"needs GPUs of {wanted}, and nodes of {hardware.resource_class:.80} have {found}"
