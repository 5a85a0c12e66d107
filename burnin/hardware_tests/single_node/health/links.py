"""NVLink, and the services that hold a fabric of NVIDIA's together."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import sha256
from itertools import combinations

from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers.nvidia_smi import parse
from burnin.hardware_tests.parsers.nvidia_smi_links import (
    NvidiaSmiLinkedGpu,
    NvidiaSmiLinks,
    NvidiaSmiTopology,
)
from burnin.hardware_tests.single_node.health.section import (
    Found,
    FromNode,
    Reader,
    Section,
    highest,
    listed,
    lowest,
)

# GPUDirect RDMA, GDRCopy, and what libibverbs opens.
WANTED_MODULES = ("nvidia_peermem", "gdrdrv", "ib_core", "ib_uverbs")
_NVLINK = re.compile(r"NV\d+")
_SERVICE_STATES = ("active", "inactive", "failed", "activating", "deactivating", "unknown")
# As of AWS ParallelCluster's guide (570.172) and k8s-dra-driver-gpu's logs (early 570: no version).
_IMEX_NODE = re.compile(
    r"^\s*Node #(\d+)\s+-\s+(\S+)\s+-\s+([A-Z][A-Z_ ]*[A-Z])[ \t]*(?:-[^\n]*)?$", re.MULTILINE
)
_IMEX_DOMAIN = re.compile(r"^\s*Domain State: (\w+)", re.MULTILINE)
_NEAR = frozenset({"PIX", "PXB"})  # one PCIe switch on the way, or several; no CPU


class _Loaded(FromNode):
    loaded: list[str]


def active_nvlinks(section: Section) -> Found:
    gpus = _gpus(section)
    counts = {_name(gpu): sum(link.active is True for link in gpu.links) for gpu in gpus}
    return lowest(counts, "links")


def nvlink_speed(section: Section) -> Found:
    speeds = {
        f"{_name(gpu)} link {link.number}": link.bytes_per_s / 1e9
        for gpu in _gpus(section)
        for link in gpu.links
        if link.bytes_per_s is not None
    }
    _refuse_silent(section, speeds, "link speed")
    return lowest(speeds, "link speed")


def nvlink_errors(section: Section) -> Found:
    counts = {
        f"{_name(gpu)} link {link.number}": sum(link.errors.values())
        for gpu in _gpus(section)
        for link in gpu.links
        if link.errors
    }
    _refuse_silent(section, counts, "link errors")
    return highest(counts, "link errors")


def unlinked_gpu_pairs(section: Section) -> Found:
    rows = {
        row.device: row.reaches for row in _topology(section).rows if row.device.startswith("GPU")
    }
    if len(rows) < 2:
        raise NotMeasured(f"nvidia-smi's matrix has {len(rows)} GPUs: there is no pair")
    ways = {(one, other): rows[one][other] for one, other in combinations(rows, 2)}
    bad = {pair: way for pair, way in ways.items() if not _NVLINK.fullmatch(way)}
    return listed([f"{one}-{other}: {way}" for (one, other), way in bad.items()])


def distant_gpus(section: Section) -> Found:
    """Count GPUs that reach every adapter only through their CPU."""
    rows = {row.device: row.reaches for row in _topology(section).rows}
    gpus = {name: ways for name, ways in rows.items() if name.startswith("GPU")}
    adapters = [name for name in rows if name not in gpus]
    if not gpus or not adapters:
        raise NotMeasured("nvidia-smi's matrix has no adapter, or no GPU")
    far = [name for name, ways in gpus.items() if not _NEAR & {ways[each] for each in adapters}]
    return listed(far)


def topologies(section: Section) -> Found:
    """Tell the whole matrix as one text: how each device reaches each other."""
    rows = [f"{row.device} {' '.join(row.reaches.values())}" for row in _topology(section).rows]
    digest = sha256("\n".join(rows).encode()).hexdigest()[:16]
    gpus = sum(row.startswith("GPU") for row in rows)
    return 1, f"{gpus} GPUs and {len(rows) - gpus} adapters, matrix {digest}"


def _topology(section: Section) -> NvidiaSmiTopology:
    topology = section.parsed(parse)
    if not isinstance(topology, NvidiaSmiTopology):
        raise NotMeasured("nvidia-smi shows no matrix of GPUs")
    return topology


def fabric_manager(section: Section) -> Found:
    said = section.said()
    state = said.text.strip()
    if state not in _SERVICE_STATES:
        raise NotMeasured(f"systemctl does not tell the service's state: {said.words}")
    return int(state == "active"), "" if state == "active" else f"nvidia-fabricmanager is {state}"


def imex_nodes_not_ready(section: Section) -> Found:
    """Count nodes that are not READY, and the domain if it is not UP beside nodes that are."""
    said = section.said()
    nodes, domain = _IMEX_NODE.findall(said.text), _IMEX_DOMAIN.search(said.text)
    if not nodes or domain is None:
        raise NotMeasured(f"nvidia-imex-ctl lists no node: {said.words}")
    bad = [f"node {at} ({host}): {state}" for at, host, state in nodes if state != "READY"]
    if not bad and domain[1] != "UP":
        bad = [f"the domain is {domain[1]}"]
    return listed(bad)


def missing_modules(section: Section) -> Found:
    loaded = section.shaped(_Loaded).loaded
    return listed([name for name in WANTED_MODULES if name not in loaded])


def _gpus(section: Section) -> tuple[NvidiaSmiLinkedGpu, ...]:
    said, links = section.said(), section.parsed(parse)
    if not isinstance(links, NvidiaSmiLinks) or said.exit_code:
        raise NotMeasured(f"nvidia-smi lists no links (exit {said.exit_code}): {said.words}")
    return links.gpus


def _refuse_silent(section: Section, told: Iterable[str], what: str) -> None:
    """Raise NotMeasured where a GPU tells nothing of any of its links, though others do."""
    heard = {place.partition(" link ")[0] for place in told}
    silent = [_name(gpu) for gpu in _gpus(section) if _name(gpu) not in heard]
    if heard and silent:
        raise NotMeasured(f"{', '.join(silent)} does not tell its {what}")


def _name(gpu: NvidiaSmiLinkedGpu) -> str:
    return f"GPU {gpu.index}"


READERS: dict[str, Reader] = {
    "active_nvlinks": active_nvlinks,
    "nvlink_speed": nvlink_speed,
    "nvlink_errors": nvlink_errors,
    "unlinked_gpu_pairs": unlinked_gpu_pairs,
    "distant_gpus": distant_gpus,
    "topologies": topologies,
    "fabric_manager": fabric_manager,
    "imex_nodes_not_ready": imex_nodes_not_ready,
    "missing_modules": missing_modules,
}
