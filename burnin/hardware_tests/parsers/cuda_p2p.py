"""CUDA's p2pBandwidthLatencyTest. The diagonal is a GPU's own memory, not a link."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from burnin.hardware_tests.parsers.number import amount
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind

_TITLE = re.compile(
    r"(Unidirectional|Bidirectional)? ?P2P=(Enabled|Disabled) (Bandwidth|Latency) "
    r"(?:\(P2P (Writes|Reads)\) )?Matrix \((GB/s|us)\)"
)
_HEADER = re.compile(r"(D\\D|GPU|CPU)((?:\s+\d+)+)")
_DEVICE = re.compile(r"Device: \d+, (.+), pciBusID: .*")
_END = "NOTE: The CUDA Samples are not meant for performance"
_KINDS = (("Unidirectional", "Bandwidth"), ("Bidirectional", "Bandwidth"), (None, "Latency"))


@dataclass(frozen=True)
class PeerMatrix:
    """Cell [i][j] is from GPU i to GPU j. `unit` is GB/s (1e9 bytes) or us.

    `direction` is None and `measured_by` GPU or CPU for latencies; `method` says Writes or Reads
    where the tool does.
    """

    direction: str | None
    p2p_enabled: bool
    quantity: str
    method: str | None
    unit: str
    measured_by: str | None
    cells: tuple[tuple[float, ...], ...]

    @property
    def between_gpus(self) -> Iterator[float]:
        for row, cells in enumerate(self.cells):
            yield from (cell for column, cell in enumerate(cells) if column != row)


@dataclass(frozen=True)
class P2pReport:
    """A run that printed every matrix. With one GPU there is nothing between GPUs."""

    device_names: tuple[str, ...]
    matrices: tuple[PeerMatrix, ...]

    def bandwidths(self, direction: str) -> tuple[PeerMatrix, ...]:
        """Return the matrices with peer access of "Unidirectional" or "Bidirectional"."""
        return tuple(
            matrix
            for matrix in self.matrices
            if matrix.p2p_enabled and matrix.direction == direction
        )

    @property
    def gpu_count(self) -> int:
        return len(self.matrices[0].cells)


def parse(text: str) -> P2pReport:
    """Return the report; raise ParseError when a matrix or the tool's closing note is missing."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    matrices = tuple(_matrices(lines))
    if not any(line.startswith(_END) for line in lines):
        raise ParseError(
            f"p2pBandwidthLatencyTest's output is cut after {len(matrices)} matrices",
            kind=RefusalKind.TRUNCATED,
        )
    seen = {(matrix.direction, matrix.quantity) for matrix in matrices if matrix.p2p_enabled}
    sizes = {len(matrix.cells) for matrix in matrices}
    if not seen.issuperset(_KINDS) or len(sizes) != 1:
        raise ParseError(
            "p2pBandwidthLatencyTest's matrices are not all there, or not all alike",
            kind=RefusalKind.CONTRADICTORY,
        )
    return P2pReport(
        device_names=tuple(found[1] for line in lines if (found := _DEVICE.fullmatch(line))),
        matrices=matrices,
    )


def _matrices(lines: list[str]) -> Iterator[PeerMatrix]:
    title: re.Match[str] | None = None
    for index, line in enumerate(lines):
        title = _TITLE.fullmatch(line) or title
        header = _HEADER.fullmatch(line)
        if title is None or header is None:
            continue
        size = len(header[2].split())
        yield PeerMatrix(
            direction=title[1],
            p2p_enabled=title[2] == "Enabled",
            quantity=title[3],
            method=title[4],
            unit=title[5],
            measured_by=header[1] if title[3] == "Latency" else None,
            cells=tuple(_row(row, size, title[0]) for row in _below(lines, index, size, title[0])),
        )


def _below(lines: list[str], index: int, size: int, title: str) -> list[str]:
    rows = lines[index + 1 : index + 1 + size]
    if len(rows) < size:
        raise ParseError(f"{title} has {len(rows)} of {size} rows", kind=RefusalKind.TRUNCATED)
    return rows


def _row(line: str, size: int, title: str) -> tuple[float, ...]:
    words = line.split()
    if len(words) != size + 1 or not words[0].isdecimal():
        raise ParseError(
            f"'{line:.60}' is no row of {title}, which has {size} columns",
            kind=RefusalKind.TRUNCATED,
        )
    return tuple(amount(word, title) for word in words[1:])
