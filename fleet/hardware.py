"""What nodes of a resource class are made of, as far as what they are asked depends on it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

NVIDIA, AMD = "NVIDIA", "AMD"
NO_GPU = ""  # the maker of a class without GPUs


class Part(StrEnum):
    """What nodes of a class may have or lack, as far as a check is for such hardware only."""

    words: str

    def __new__(cls, name: str, words: str) -> Part:
        part = str.__new__(cls, name)
        part._value_, part.words = name, words
        return part

    NVIDIA_GPUS = "nvidia-gpus", "GPUs of NVIDIA"
    AMD_GPUS = "amd-gpus", "GPUs of AMD"
    GPU_LANES = "gpu-lanes", "GPUs whose PCIe link the class states"
    NVLINK = "nvlink", "NVLink"
    NVSWITCH = "nvswitch", "NVSwitches in the node"
    FABRIC = "fabric", "GPUs that join a fabric of their own"
    IMEX = "imex", "an IMEX domain"
    PCIE_LINKS = "pcie-links", "PCIe links that lspci tells"
    NVME = "nvme", "NVMe drives"
    BOARD = "board", "a board that tells of itself (DMI and a controller)"
    RDMA = "rdma", "RDMA ports"
    RDMA_RAILS = "rdma-rails", "RDMA ports whose number the class states"


GPUS_OF: Mapping[str, Part] = {NVIDIA: Part.NVIDIA_GPUS, AMD: Part.AMD_GPUS}
STATED_PARTS = tuple(part for part in Part if part not in GPUS_OF.values())
_OF_GPUS = frozenset({Part.GPU_LANES})
_OF_NVIDIA = frozenset({Part.NVLINK, Part.NVSWITCH, Part.FABRIC, Part.IMEX})
_WITH = {Part.NVSWITCH: Part.NVLINK, Part.RDMA_RAILS: Part.RDMA}


@dataclass(frozen=True)
class Hardware:
    """One node of a class: its GPUs, and what holds them together. No maker: there are none.

    `parts` are of STATED_PARTS: that there are GPUs of a maker follows from the maker.
    """

    resource_class: str
    gpus_per_node: int
    gpu_maker: str
    parts: frozenset[Part] = frozenset()

    def has(self, part: Part) -> bool:
        return part in self.parts or part is GPUS_OF.get(self.gpu_maker)

    @property
    def words(self) -> str:
        """What a node has, as a sentence says it."""
        plural = "" if self.gpus_per_node == 1 else "s"
        gpus = f"{self.gpus_per_node} GPU{plural} of {self.gpu_maker}" if self.gpu_maker else ""
        return ", ".join([gpus or "no GPUs", *_named(self.parts)])

    def as_json(self) -> dict[str, Any]:
        """Return it without the class's name: the columns of its row."""
        return {
            "gpus_per_node": self.gpus_per_node,
            "gpu_maker": self.gpu_maker,
            "parts": sorted(part.value for part in self.parts),
        }

    @classmethod
    def from_json(cls, resource_class: str, kept: Mapping[str, Any]) -> Hardware:
        """Raises KeyError or ValueError for what no release has kept."""
        parts = frozenset(PARTS[each] for each in kept["parts"])
        return cls(resource_class, kept["gpus_per_node"], kept["gpu_maker"], parts)


def _named(parts: Iterable[Part]) -> list[str]:
    """Name the parts that a person would ask for; the others say what of them can be told."""
    return [name for part, name in _NAMES.items() if part in parts]


_NAMES = {
    Part.NVLINK: "NVLink",
    Part.NVSWITCH: "NVSwitch",
    Part.IMEX: "IMEX",
    Part.NVME: "NVMe",
    Part.RDMA: "RDMA",
    Part.BOARD: "a board controller",
}
PARTS: Mapping[str, Part] = {part.value: part for part in Part}


def why_impossible(gpus_per_node: int | None, gpu_maker: str, parts: object) -> str:
    """Say in one sentence why no node can be made like this; "" if one can."""
    if not isinstance(parts, list) or not all(isinstance(each, str) for each in parts):
        return f"the parts must be a list of names: {_names(STATED_PARTS)}"
    if unknown := [each for each in parts if each not in STATED_PARTS]:
        return f"there is no part {unknown[0]!r:.80}: choose of {_names(STATED_PARTS)}"
    found = {PARTS[each] for each in parts}
    if gpus_per_node is None:
        stated = gpu_maker or _names(found)
        return f"say how many GPUs a node has (0 for none), as {stated} is stated" if stated else ""
    return _why_not_gpus(gpus_per_node, gpu_maker) or _why_not_parts(gpu_maker, found)


def _why_not_gpus(gpus_per_node: int, gpu_maker: str) -> str:
    if gpus_per_node and not gpu_maker:
        return f"a node has {gpus_per_node} GPUs: say whose, {NVIDIA} or {AMD}"
    if gpu_maker and not gpus_per_node:
        return f"a node has 0 GPUs of {gpu_maker}: say how many, or leave the maker out"
    return ""


def _why_not_parts(gpu_maker: str, found: set[Part]) -> str:
    if not gpu_maker and (lost := found & (_OF_GPUS | _OF_NVIDIA)):
        return f"a node without GPUs cannot have {_names(lost)}: say how many GPUs it has"
    if gpu_maker != NVIDIA and (lost := found & _OF_NVIDIA):
        return f"only GPUs of {NVIDIA} have {_names(lost)}: leave it out"
    for part, other in _WITH.items():
        if part in found and other not in found:
            return f"there is no {part} without {other}: state {other} too"
    return ""


def _names(parts: Iterable[Part]) -> str:
    return ", ".join(sorted(parts))
