"""What a run of HPC Challenge says."""

from __future__ import annotations

from dataclasses import dataclass

from burnin.hardware_tests.parsers.hpl_report import HplReport


@dataclass(frozen=True)
class HpccRate:
    """What one process gets: `slowest` to `fastest` while all work, `alone` while all others wait.

    STREAM's three are the same number, for its processes wait for each other at every pass.
    """

    slowest: float
    mean: float
    fastest: float
    alone: float


@dataclass(frozen=True)
class HpccStream:
    """In 1e9 bytes a second and process; the node's bandwidth is that times the processes.

    `array_elements` are doubles in each of the three arrays of one process.
    """

    array_elements: int
    copy: HpccRate
    scale: HpccRate
    add: HpccRate
    triad: HpccRate


@dataclass(frozen=True)
class HpccReport:
    """A run whose every part reached its end. `dgemm` is in 1e9 operations a second.

    `success` is the tool's own word on every value that it checked; `wrong_sections` names the
    parts that say so. DGEMM and the FFTs print no word: there `success` alone is False.
    """

    version: str
    processes: int
    success: bool
    hpl: HplReport
    dgemm: HpccRate
    stream: HpccStream
    wrong_sections: tuple[str, ...]
