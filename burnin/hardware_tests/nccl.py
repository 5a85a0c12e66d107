"""What every test by nccl-tests has in common; on AMD it is rccl-tests, which prints the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from types import MappingProxyType

from pydantic import Field

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.gpu_node import read_gpu_node
from burnin.hardware_tests.metrics import (
    BaseMetrics,
    Better,
    FabricFact,
    MetricUnit,
    MetricValue,
    clip_detail,
    metric,
)
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.parsers import nccl_tests
from burnin.hardware_tests.parsers.nccl_report import NcclReport, NcclRow, NcclTransfer, Verdict
from burnin.hardware_tests.rdma_ports import least_rate
from burnin.hardware_tests.thresholds.schema import Thresholds
from fleet.hardware import AMD, NVIDIA, Hardware

LARGEST_BYTES = 16 << 30
LARGEST_BY_CLASS = {"l40s-8x": 8 << 30}
ROUNDED_BYTES = 32  # for each rank: shares end at a multiple of 16 bytes
NAMED = 5


class NcclParams(TestParams):
    """Nothing to turn: sizes, repetitions and ranks are fixed, as each moves the right floor."""


class NcclMetrics(BaseMetrics):
    """In operator order. The bandwidth is that of the largest size, the latency of the smallest."""

    bus_bandwidth: float = metric(
        MetricUnit.GB_S, better=Better.HIGHER, label="Bus bandwidth", plausible=(2, 1900)
    )
    wrong_values: int = metric(MetricUnit.COUNT, better=Better.LOWER, label="Wrong values")
    spread: MetricValue = metric(MetricUnit.PERCENT, label="In place against out of place")
    latency: float = metric(MetricUnit.MICROSECONDS, label="Smallest message")
    warning_count: int = metric(MetricUnit.COUNT, label="Warnings of the library")
    buffer_size: float = metric(MetricUnit.GIB, label="Largest buffer", api_visible=False)
    rank_count: int = metric(MetricUnit.COUNT, label="Ranks", api_visible=False)


class NcclThresholds(Thresholds):
    """Limits in each metric's unit. The values are in thresholds.yaml."""

    bus_bandwidth: float = Field(gt=0)
    wrong_values: int = Field(ge=0)


class NcclTest(BaseTest, abstract=True):
    """The family's base. NCCL's version comes from its output: it may run in a container."""

    params_class = NcclParams
    takes_s = 90
    silent_for_s = 900.0  # a line for each size, once its image is there
    metrics_class = NcclMetrics
    thresholds_class = NcclThresholds
    fixed_knobs = MappingProxyType(
        {"smallest_bytes": 8, "largest_bytes": LARGEST_BYTES, "iterations": 20, "warm_up": 5}
    )
    fingerprint_tools = ("nccl",)
    gpu_makers = frozenset({NVIDIA, AMD})
    container = "nccl-tests"

    @classmethod
    def container_on(cls, hardware: Hardware) -> str:
        return "rccl-tests" if hardware.gpu_maker == AMD else cls.container

    def tool_versions(self, artifact_collector: ArtifactCollector) -> Mapping[str, str]:
        version = _report_in(artifact_collector).library_version
        return {"nccl": version} if version else {}

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> NcclMetrics:
        report = _report_in(artifact_collector)
        self.refuse_other_work(report, artifact_collector)
        largest = _out_of_place(report.largest_row)
        smallest = min(
            (row for row in report.rows if row.size_bytes), key=lambda row: row.size_bytes
        )
        return NcclMetrics(
            bus_bandwidth=largest.bus_bandwidth_gb_per_s,
            wrong_values=_wrong_values(report),
            spread=_spread(report.largest_row),
            latency=_out_of_place(smallest).time_us,
            warning_count=len(report.warnings),
            buffer_size=report.largest_row.size_bytes / (1 << 30),
            rank_count=len(report.devices),
            details=_details(report, smallest),
            fabric=_fabric(report, artifact_collector),
        )

    def refuse_other_work(self, report: NcclReport, artifact_collector: ArtifactCollector) -> None:
        """Raise NotMeasured unless every GPU moved the recipe's sizes and checked what came."""
        node = read_gpu_node(artifact_collector)
        _refuse_other_ranks(report, node.gpu_count, len(artifact_collector.metadata.node_names))
        wanted = LARGEST_BY_CLASS.get(node.resource_class, LARGEST_BYTES)
        moved = report.largest_row.size_bytes
        if report.is_reduced or not wanted - ROUNDED_BYTES * len(report.devices) < moved <= wanted:
            raise NotMeasured(
                f"the largest size was {moved} bytes, the recipe's is {wanted}: "
                "something else may hold memory of a GPU"
            )
        unchecked = [str(row.size_bytes) for row in report.rows if _is_unchecked(row)]
        if unchecked and report.validation is not Verdict.FAILED:
            sizes = ", ".join(unchecked[:NAMED])
            raise NotMeasured(f"the values were not checked at {sizes} bytes")


def _fabric(report: NcclReport, artifact_collector: ArtifactCollector) -> dict[str, FabricFact]:
    """Return what is known of the network. What nothing was said of is absent."""
    facts: dict[str, FabricFact | None] = {
        "network": " and ".join(map(_family, report.networks)) or None,
        "rate": least_rate(artifact_collector),
        "nvls": report.nvls,
        "mnnvl": report.mnnvl,
    }
    return {name: fact for name, fact in facts.items() if fact is not None}


def _family(network: str) -> str:
    """Return the network without the version of the plugin: IB, Libfabric, GPUDirectTCPX."""
    plain = network.removeprefix("AWS ").partition("_")[0]
    return "IB" if plain in ("IBext", "IB") else plain


def _report_in(artifact_collector: ArtifactCollector) -> NcclReport:
    return nccl_tests.parse(artifact_collector.get_custom_file("nccl-tests.txt").read_text())


def _refuse_other_ranks(report: NcclReport, gpu_count: int, num_nodes: int) -> None:
    # Hosts may be called otherwise than Slurm calls its nodes: they are counted, not compared.
    ranks = Counter(device.host for device in report.devices)
    if len(ranks) != num_nodes or set(ranks.values()) != {gpu_count}:
        found = ", ".join(f"{count} on {host}" for host, count in ranks.most_common(NAMED))
        raise NotMeasured(
            f"the ranks were {found or 'not named'}, not {gpu_count} on each of {num_nodes} nodes"
        )


def _is_unchecked(row: NcclRow) -> bool:
    # Every collective checks what it moves out of place; some never check in place.
    return row.size_bytes > 0 and _out_of_place(row).wrong is None


def _out_of_place(row: NcclRow) -> NcclTransfer:
    if row.out_of_place is None:
        raise NotMeasured(f"nothing was measured out of place at {row.size_bytes} bytes")
    return row.out_of_place


def _wrong_values(report: NcclReport) -> int:
    """Count values; under the old `error` header only the tool's own count of sizes is left."""
    counted = sum(half.wrong or 0 for row in report.wrong_rows for half in row.halves)
    return int(counted) or report.out_of_bounds


def _spread(row: NcclRow) -> float | None:
    """Return None where a collective has no in-place form, so that the tool checks none."""
    if row.in_place is None or row.in_place.wrong is None:
        return None
    both = [half.bus_bandwidth_gb_per_s for half in row.halves]
    return 100 * (max(both) - min(both)) / max(both) if max(both) else None


def _details(report: NcclReport, smallest: NcclRow) -> dict[str, str]:
    """Say what ran, at which sizes values were wrong, and what the library complained of."""
    library = report.library_version or "of unknown version"
    over = f" over {' and '.join(report.networks)}" if report.networks else ""
    ranks = f"{len(report.devices)} ranks on {report.host_count} nodes, library {library}{over}"
    wrong = "; ".join(
        f"{sum(half.wrong or 0 for half in row.halves):g} at {row.size_bytes} bytes"
        for row in report.wrong_rows
    )
    warnings = "; ".join(dict.fromkeys(report.warnings))
    said = {
        "bus_bandwidth": ranks,
        "latency": f"{smallest.size_bytes} bytes",
        "wrong_values": wrong,
        "warning_count": warnings,
    }
    return {name: clip_detail(words) for name, words in said.items() if words}
