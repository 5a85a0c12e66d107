"""GPUs of AMD: rocm-smi, and what their driver counts below /sys."""

from __future__ import annotations

import re

from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers import rocm_smi
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind
from burnin.hardware_tests.single_node.health.section import (
    Found,
    FromNode,
    Reader,
    Section,
    highest,
)

# As amdgpu_ras.c of the kernel writes them (with "de": amdgpu_aca.c). While a GPU resets it writes
# "Query currently inaccessible". A bad page is "gpu pfn : gpu page size : flags".
_BLOCK = re.compile(r"ue: (\d{1,18})\s+ce: (\d{1,18})(?:\s+de: \d{1,18})?\s*")
_BAD_PAGE = re.compile(r"0x[0-9a-f]+ : 0x[0-9a-f]+ : [RPF]")


class _Card(FromNode):
    blocks: dict[str, str]
    bad_pages: str


def gpu_count(section: Section) -> Found:
    try:
        return len(section.parsed(rocm_smi.parse).cards), ""
    except ParseError as error:
        if error.kind in (RefusalKind.NO_DEVICE, RefusalKind.DRIVER_ERROR):
            return 0, error.reason
        raise


def temperature(section: Section) -> Found:
    cards = section.parsed(rocm_smi.parse).cards
    return highest({f"card{card.index}": card.junction_temperature_c for card in cards}, "junction")


def uncorrected_errors(section: Section) -> Found:
    """Add up each GPU's blocks: memory, links between GPUs, caches."""
    counts = {name: _uncorrected(name, card) for name, card in _cards(section).items()}
    return highest(counts, "uncorrected errors")


def bad_pages(section: Section) -> Found:
    counts = {name: _bad_pages(name, card) for name, card in _cards(section).items()}
    return highest(counts, "bad pages")


def _cards(section: Section) -> dict[str, _Card]:
    return section.shaped(dict[str, _Card])


def _uncorrected(name: str, card: _Card) -> int:
    found = {block: _BLOCK.fullmatch(text) for block, text in card.blocks.items()}
    if not found or not all(found.values()):
        raise NotMeasured(f"the error counts of {name} are not as amdgpu writes them")
    return sum(int(each[1]) for each in found.values() if each)


def _bad_pages(name: str, card: _Card) -> int:
    lines = [line for line in card.bad_pages.splitlines() if line.strip()]
    if not all(_BAD_PAGE.fullmatch(line.strip()) for line in lines):
        raise NotMeasured(f"the bad pages of {name} are not as amdgpu writes them")
    return len(lines)


READERS: dict[str, Reader] = {
    "rocm_gpu_count": gpu_count,
    "rocm_temperature": temperature,
    "rocm_uncorrected_errors": uncorrected_errors,
    "rocm_bad_pages": bad_pages,
}
