"""`nvidia-smi -L`, `nvlink --status`, `nvlink -e`, `topo -m` and `topo -p2p`.

None of them has an end mark: a caller checks the numbers of GPUs and links.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from burnin.hardware_tests.parsers.number import amount, count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_GPU = re.compile(r"GPU (\d{1,4}): (.+?) \(UUID: (\S+)\)")
_LINK = re.compile(r"\s+Link (\d{1,4}): (?:([\d.]+) GB/s|<?(inactive)>?)")
_LINK_ERRORS = re.compile(r"\s+Link (\d{1,4}): ([A-Z][A-Za-z ]+?): (\d{1,20})")
_MIG = re.compile(r"\s+MIG .*")
_SAYS_ALL_INACTIVE = re.compile(r"\s*NVML: Unable to retrieve NVLink information .*")
_COLORS = re.compile(r"\x1b\[[0-9;]*m")
_DEVICE = re.compile(r"(?:GPU|NIC)\d{1,4}|mlx5_\w+|ibp\w+")


@dataclass(frozen=True)
class NvidiaSmiLink:
    """One NVLink. `bytes_per_s` is None when it is inactive, or when only errors were asked for.

    `errors` holds the counts by nvidia-smi's names ("CRC Errors"), empty when not asked for.
    """

    number: int
    active: bool | None
    bytes_per_s: float | None
    errors: dict[str, int]


@dataclass(frozen=True)
class NvidiaSmiLinkedGpu:
    index: int
    name: str
    uuid: str
    links: tuple[NvidiaSmiLink, ...]


@dataclass(frozen=True)
class NvidiaSmiLinks:
    """The GPUs in order; links are absent from the list of `nvidia-smi -L`."""

    gpus: tuple[NvidiaSmiLinkedGpu, ...]


@dataclass(frozen=True)
class NvidiaSmiTopologyRow:
    """How one device reaches the others: "NV18", "PIX", "OK", "NS" by device name."""

    device: str
    reaches: dict[str, str]


@dataclass(frozen=True)
class NvidiaSmiTopology:
    rows: tuple[NvidiaSmiTopologyRow, ...]


def is_list(text: str) -> bool:
    return _GPU.match(text.lstrip()) is not None


def is_matrix(text: str) -> bool:
    first = _COLORS.sub("", text.lstrip().splitlines()[0]).split()
    return (
        bool(first) and all(_DEVICE.fullmatch(word) for word in first[:1]) and "," not in first[0]
    )


def parse(text: str) -> NvidiaSmiLinks:
    """Return GPUs and links; raise ParseError at a line that is neither."""
    gpus: list[tuple[int, str, str, dict[int, NvidiaSmiLink]]] = []
    for line in text.splitlines():
        if found := _GPU.fullmatch(line.strip()):
            gpus.append((count(found[1], "nvidia-smi's GPU"), found[2], found[3], {}))
        elif line.strip() and gpus:
            _add(line, gpus[-1][3])
    return NvidiaSmiLinks(
        tuple(
            NvidiaSmiLinkedGpu(index, name, uuid, tuple(links.values()))
            for index, name, uuid, links in gpus
        )
    )


def _add(line: str, links: dict[int, NvidiaSmiLink]) -> None:
    """Add what a line says of a link. A line of another shape may be a cut one."""
    if found := _LINK.fullmatch(line.rstrip()):
        number, speed = count(found[1], "nvidia-smi's link"), found[2]
        bytes_per_s = amount(speed, "nvidia-smi's link") * 1e9 if speed else None
        links[number] = NvidiaSmiLink(number, speed is not None, bytes_per_s, {})
    elif found := _LINK_ERRORS.fullmatch(line.rstrip()):
        number = count(found[1], "nvidia-smi's link")
        known = links.get(number, NvidiaSmiLink(number, None, None, {}))
        errors = {**known.errors, found[2]: count(found[3], "nvidia-smi's link errors")}
        links[number] = NvidiaSmiLink(number, known.active, known.bytes_per_s, errors)
    elif not _MIG.fullmatch(line) and not _SAYS_ALL_INACTIVE.fullmatch(line):
        words = f"nvidia-smi's line is cut or unknown: {line.strip()[:100]}"
        raise ParseError(words, kind=RefusalKind.TRUNCATED)


def parse_matrix(text: str) -> NvidiaSmiTopology:
    """Return the matrix; raise ParseError where a row of it is missing."""
    header, *lines = _COLORS.sub("", text).strip("\n").splitlines()
    devices = [word for word in header.split() if _DEVICE.fullmatch(word)]
    rows = [_row(line.split(), devices) for line in lines if line.split()[:1] and
            line.split()[0] in devices]  # fmt: skip
    if [row.device for row in rows] != devices:
        raise ParseError(
            f"nvidia-smi's matrix of {len(devices)} devices has {len(rows)} rows",
            kind=RefusalKind.TRUNCATED,
        )
    return NvidiaSmiTopology(tuple(rows))


def _row(words: list[str], devices: list[str]) -> NvidiaSmiTopologyRow:
    device, cells = words[0], words[1 : len(devices) + 1]
    if len(cells) != len(devices) or cells[devices.index(device)] != "X":
        raise ParseError(
            f"nvidia-smi's row of {device} does not fit its header", kind=RefusalKind.TRUNCATED
        )
    reaches = dict(zip(devices, cells, strict=True))
    del reaches[device]
    return NvidiaSmiTopologyRow(device, reaches)
