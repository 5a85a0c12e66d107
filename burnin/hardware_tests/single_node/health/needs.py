"""Which hardware a check is for: on nodes of a class without it, a preset does not ask for it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from fleet.hardware import Hardware, Part
from runner.contract.health import CHECKS_OF

_OF_SECTIONS = {
    "nvidia_smi": Part.NVIDIA_GPUS,
    "nvidia_smi_growth": Part.NVIDIA_GPUS,
    "nvidia_smi_table": Part.NVIDIA_GPUS,
    "nvidia_modules": Part.NVIDIA_GPUS,
    "nvidia_nvlinks": Part.NVLINK,
    "nvidia_nvlink_errors": Part.NVLINK,
    "nvidia_topology": Part.NVLINK,
    "nvidia_fabric_manager": Part.NVSWITCH,
    "nvidia_imex": Part.IMEX,
    "rocm_smi": Part.AMD_GPUS,
    "rocm_ras": Part.AMD_GPUS,
    "rdma_ports": Part.RDMA,
    "rdma_errors": Part.RDMA,
    "rdma_signal": Part.RDMA,
    "rdma_software": Part.RDMA,
    "port_authentication": Part.RDMA,
    "pci_links": Part.PCIE_LINKS,
    "nvme_health": Part.NVME,
    "iommu": Part.PCIE_LINKS,
    "dimms": Part.BOARD,
    "bios": Part.BOARD,
    "board_controller": Part.BOARD,
    "event_log": Part.BOARD,
    "sensors": Part.BOARD,
}
_OF_CHECKS = {
    "fault_xids": Part.NVIDIA_GPUS,
    "application_xids": Part.NVIDIA_GPUS,
    "fatal_sxids": Part.NVSWITCH,
    "gpus_off_fabric": Part.FABRIC,
    "pcie_width": Part.GPU_LANES,
    "pcie_generation": Part.GPU_LANES,
    "active_rdma_ports": Part.RDMA_RAILS,
    "slowest_rdma_port": Part.RDMA_RAILS,
}

NEEDS: Mapping[str, Part] = MappingProxyType(
    {check: part for section, part in _OF_SECTIONS.items() for check in CHECKS_OF[section]}
    | _OF_CHECKS
)


def is_for(check: str, hardware: Hardware) -> bool:
    """Say whether such nodes have what the check looks at."""
    return check not in NEEDS or hardware.has(NEEDS[check])
