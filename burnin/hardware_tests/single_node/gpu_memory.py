"""What nvbandwidth measured: each GPU's own memory, its way to the host, and between GPUs."""

from __future__ import annotations

from dataclasses import dataclass

from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers.nvbandwidth_report import (
    BandwidthCase,
    CaseStatus,
    NvbandwidthReport,
)

OWN, PEERS = "device_local_copy", "device_to_device_memcpy_read_ce"
TO_GPU, FROM_GPU = "host_to_device_memcpy_ce", "device_to_host_memcpy_ce"
# NVIDIA/nvbandwidth#48: a copy is counted once, and is read from memory and written to it.
READ_AND_WRITTEN = 2


@dataclass(frozen=True)
class Slowest:
    """The slowest of many, in GB/s, and where it is."""

    gb_s: float
    where: str
    fastest_gb_s: float


@dataclass(frozen=True)
class GpuMemory:
    """The worst of each. `peers` is None where no GPU reaches another."""

    own: Slowest
    to_gpu: Slowest
    from_gpu: Slowest
    peers: Slowest | None


def gpu_memory(report: NvbandwidthReport, gpu_count: int) -> GpuMemory:
    """Return the worst of each case; raise NotMeasured where one did not measure every GPU."""
    own = _of_each_gpu(_case(report, OWN), gpu_count)
    return GpuMemory(
        own=Slowest(own.gb_s * READ_AND_WRITTEN, own.where, own.fastest_gb_s * READ_AND_WRITTEN),
        to_gpu=_of_each_gpu(_case(report, TO_GPU), gpu_count),
        from_gpu=_of_each_gpu(_case(report, FROM_GPU), gpu_count),
        peers=_between_gpus(report, gpu_count),
    )


def _case(report: NvbandwidthReport, name: str) -> BandwidthCase:
    found = [case for case in report.cases if case.name == name]
    if len(found) != 1:
        raise NotMeasured(f"nvbandwidth reports {name} {len(found)} times, it must be once")
    case = found[0]
    if case.status is not CaseStatus.PASSED:
        raise NotMeasured(f"nvbandwidth did not measure {name} ({case.status}): {case.message}")
    if case.unit != "GB/s":
        raise NotMeasured(f"nvbandwidth gives {name} in {case.unit}, not in GB/s")
    return case


def _of_each_gpu(case: BandwidthCase, gpu_count: int) -> Slowest:
    cells = {
        f"GPU {column}": cell
        for row in case.matrix
        for column, cell in zip(case.columns, row, strict=True)
        if cell is not None
    }
    if len(case.matrix) != 1 or len(cells) != gpu_count:
        raise NotMeasured(
            f"nvbandwidth measured {case.name} on {len(cells)} GPUs, the job was given {gpu_count}"
        )
    return _slowest(cells)


def _between_gpus(report: NvbandwidthReport, gpu_count: int) -> Slowest | None:
    waived = [case for case in report.of_status(CaseStatus.WAIVED) if case.name in (PEERS, None)]
    if waived and not any(case.name == PEERS for case in report.cases if case not in waived):
        return None
    case = _case(report, PEERS)
    cells = {
        f"GPU {row} from GPU {column}": cell
        for row, line in zip(case.rows, case.matrix, strict=True)
        for column, cell in zip(case.columns, line, strict=True)
        if cell is not None and row != column
    }
    wanted = gpu_count * (gpu_count - 1)
    if len(cells) != wanted:
        raise NotMeasured(
            f"nvbandwidth measured {len(cells)} pairs of GPUs, {gpu_count} GPUs have {wanted}"
        )
    return _slowest(cells)


def _slowest(cells: dict[str, float]) -> Slowest:
    where = min(cells, key=cells.__getitem__)
    return Slowest(cells[where], where, max(cells.values()))
