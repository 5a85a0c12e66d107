"""What an nccl-tests run says, whichever form it was written in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind


class Verdict(StrEnum):
    """What the tool itself says of a check. Unchecked is neither of the others."""

    OK = "OK"
    FAILED = "FAILED"
    UNCHECKED = "unchecked"


@dataclass(frozen=True)
class NcclDevice:
    rank: int
    host: str
    device: int
    name: str


@dataclass(frozen=True)
class NcclTransfer:
    """One half of a row. `wrong` is None where the values were not checked (N/A).

    `wrong` counts values under a `#wrong` header and is the largest deviation under the old
    `error` header: it is zero for right data in the first only.
    """

    time_us: float
    algorithm_bandwidth_gb_per_s: float
    bus_bandwidth_gb_per_s: float
    wrong: float | None


@dataclass(frozen=True)
class NcclRow:
    """One size. A half that the tool left out is None."""

    size_bytes: int
    count: int
    type: str
    operation: str | None
    root: int | None
    counts_wrong_values: bool
    out_of_place: NcclTransfer | None
    in_place: NcclTransfer | None

    @property
    def halves(self) -> tuple[NcclTransfer, ...]:
        return tuple(half for half in (self.out_of_place, self.in_place) if half)

    @property
    def is_checked(self) -> bool:
        return any(half.wrong is not None for half in self.halves)


@dataclass(frozen=True)
class NcclReport:
    """A run that reached its footer. `devices` is empty where the output names none.

    `networks` are those that NCCL says it took, each once; it says so at NCCL_DEBUG=INFO only,
    as whether NVLink Sharp (`nvls`) and NVLink between nodes (`mnnvl`) were on. None: it said not.
    """

    format: str
    version: str | None
    library_version: str | None
    devices: tuple[NcclDevice, ...]
    requested_max_bytes: int | None
    is_reduced: bool
    rows: tuple[NcclRow, ...]
    out_of_bounds: int
    out_of_bounds_verdict: Verdict
    average_bus_bandwidth_gb_per_s: float
    average_verdict: Verdict
    warnings: tuple[str, ...]
    networks: tuple[str, ...] = ()
    nvls: bool | None = None
    mnnvl: bool | None = None

    @property
    def is_checked(self) -> bool:
        """Whether the values of every size that moved any were checked."""
        return all(row.is_checked for row in self.rows if row.size_bytes)

    @property
    def validation(self) -> Verdict:
        """What holds of the data: FAILED if any were wrong, unchecked if not all were checked."""
        if self.out_of_bounds_verdict is Verdict.FAILED:
            return Verdict.FAILED
        return Verdict.OK if self.is_checked else Verdict.UNCHECKED

    @property
    def rank_count(self) -> int | None:
        return len(self.devices) or None

    @property
    def host_count(self) -> int | None:
        return len({device.host for device in self.devices}) or None

    @property
    def is_single_rank(self) -> bool:
        """One rank has no bus: its bus bandwidth is 0 by definition and measures nothing."""
        return self.rank_count == 1

    @property
    def largest_row(self) -> NcclRow:
        return max(self.rows, key=lambda row: row.size_bytes)

    @property
    def wrong_rows(self) -> tuple[NcclRow, ...]:
        """The rows that count wrong values; none under the old `error` header."""
        return tuple(
            row
            for row in self.rows
            if row.counts_wrong_values and any(half.wrong for half in row.halves)
        )


def refuse_contradictions(report: NcclReport) -> None:
    """Raise ParseError where the footer denies the rows, or there are none."""
    if not report.rows:
        raise ParseError("nccl-tests printed a footer and no row", kind=RefusalKind.NO_DATA)
    failed = report.out_of_bounds_verdict is Verdict.FAILED
    if failed != (report.out_of_bounds > 0):
        raise ParseError(
            f"nccl-tests counts {report.out_of_bounds} out of bounds values and says "
            f"{report.out_of_bounds_verdict}",
            kind=RefusalKind.CONTRADICTORY,
        )
    if report.wrong_rows and not failed:
        raise ParseError(
            f"{len(report.wrong_rows)} rows have wrong values, and nccl-tests says OK",
            kind=RefusalKind.CONTRADICTORY,
        )
    ranks = [device.rank for device in report.devices]
    if len(set(ranks)) != len(ranks):
        raise ParseError(
            "one rank is listed twice: the test was built without MPI, and each process ran alone",
            kind=RefusalKind.CONTRADICTORY,
        )
