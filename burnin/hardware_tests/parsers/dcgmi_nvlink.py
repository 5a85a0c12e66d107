"""`dcgmi nvlink -e -j`: error counts of each link of one GPU. The counts are words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from burnin.hardware_tests.parsers import json_report
from burnin.hardware_tests.parsers.number import count
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

MARK = '"NVLINK Error Counts"'


@dataclass(frozen=True)
class NvlinkErrors:
    """`links` holds the counts of each link by DCGM's names, as "CRC Data Error"."""

    gpu: int
    links: Mapping[str, Mapping[str, int]]

    @property
    def nonzero(self) -> Mapping[str, Mapping[str, int]]:
        """The links that have errors, with these alone."""
        found = {
            link: {name: errors for name, errors in counts.items() if errors}
            for link, counts in self.links.items()
        }
        return {link: counts for link, counts in found.items() if counts}


class _Value(json_report.Edge):
    value: str


class _Link(json_report.Edge):
    children: dict[str, _Value]


class _Document(json_report.Edge):
    body: dict[str, _Link]
    header: tuple[str, ...]


def parse(text: str) -> NvlinkErrors:
    """Return the counts; raise ParseError where they are not whole."""
    found = json_report.only(text, tool="dcgmi nvlink")
    document = json_report.validated(_Document, found, tool="dcgmi nvlink")
    gpu = re.search(r"GPU (\d{1,4})\b", " ".join(document.header))
    if gpu is None or not document.body:
        raise ParseError("dcgmi nvlink names no GPU or no link", kind=RefusalKind.NO_DATA)
    return NvlinkErrors(
        gpu=int(gpu[1]),
        links={
            name: {kind: count(each.value, kind) for kind, each in link.children.items()}
            for name, link in document.body.items()
        },
    )
