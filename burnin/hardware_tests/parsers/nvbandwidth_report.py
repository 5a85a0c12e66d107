"""What nvbandwidth says of each of its test cases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class CaseStatus(StrEnum):
    """A waived case was not run: it is neither passed nor failed."""

    PASSED = "Passed"
    WAIVED = "Waived"
    ERROR = "Error"
    NOT_FOUND = "Not Found"


@dataclass(frozen=True)
class BandwidthCase:
    """One test case: a matrix of GB/s (1e9 bytes), or of ns for the latency cases.

    `rows` and `columns` are the labels of the matrix; a cell that nvbandwidth leaves out (N/A) is
    None. `name` is None for waived cases of versions that do not name them. `total` is the sum
    over the matrix, None where it was not printed.
    """

    name: str | None
    status: CaseStatus
    unit: str | None
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    matrix: tuple[tuple[float | None, ...], ...]
    total: float | None
    message: str

    @property
    def values(self) -> Iterator[float]:
        """The measured cells. A GPU's own cell on the diagonal of a GPU-to-GPU matrix is none."""
        for row, cells in zip(self.rows, self.matrix, strict=True):
            for column, cell in zip(self.columns, cells, strict=True):
                if cell is not None and not (self.is_between_gpus and row == column):
                    yield cell

    @property
    def is_between_gpus(self) -> bool:
        return self.name is not None and self.name.startswith("device_to_device")

    @property
    def worst(self) -> float | None:
        """The slowest pair: the smallest bandwidth or the largest latency."""
        pick = max if self.unit == "ns" else min
        return pick(self.values, default=None)


@dataclass(frozen=True)
class NvbandwidthReport:
    """A run that reached its end, or stopped at data that came out wrong.

    `wrong_data` says in nvbandwidth's words where they did; such a run keeps no case.
    """

    version: str | None
    driver_version: str | None
    cases: tuple[BandwidthCase, ...]
    wrong_data: tuple[str, ...] = ()

    def of_status(self, status: CaseStatus) -> tuple[BandwidthCase, ...]:
        return tuple(case for case in self.cases if case.status is status)
