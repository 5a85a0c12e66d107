"""MPI collectives between hosts, one rank a node: does every value arrive, and how fast?"""

from __future__ import annotations

from statistics import median
from types import MappingProxyType
from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import MultiNodeTest
from burnin.hardware_tests.batch import SlurmBatchConfig, make_multi_node_slurm_batch_config
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.metrics import BaseMetrics, Better, MetricUnit, clip_detail, metric
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.thresholds.schema import Thresholds
from runner.contract.slugs import Slugs


class MpiCollectiveParams(TestParams):
    """Nothing to turn: sizes and repetitions are fixed, as each moves the right floor."""


class MpiCollectiveMetrics(BaseMetrics):
    """In operator order. The bandwidth is that of the largest size, the latency of the smallest."""

    bus_bandwidth: float = metric(
        MetricUnit.GB_S, better=Better.HIGHER, label="Bus bandwidth", plausible=(0.1, 90)
    )
    wrong_values: int = metric(MetricUnit.COUNT, better=Better.LOWER, label="Wrong values")
    spread: float = metric(MetricUnit.PERCENT, label="Spread of the bandwidth over repetitions")
    latency: float = metric(MetricUnit.MICROSECONDS, label="Smallest message, median")
    buffer_size: float = metric(MetricUnit.GIB, label="Largest buffer", api_visible=False)
    rank_count: int = metric(MetricUnit.COUNT, label="Ranks", api_visible=False)


class MpiCollectiveThresholds(Thresholds):
    """Limits in each metric's unit. The values are in thresholds.yaml."""

    bus_bandwidth: float = Field(gt=0)
    wrong_values: int = Field(ge=0)


class _Size(BaseModel):
    model_config = ConfigDict(allow_inf_nan=False)

    size_bytes: int = Field(alias="bytes", gt=0)
    times_s: tuple[float, ...] = Field(min_length=1)
    wrong: tuple[NonNegativeInt, ...] = Field(min_length=1, description="By rank.")


class MpiReport(BaseModel):
    """results/mpi-collective.json, as rank 0 writes it."""

    operation: str
    ranks: int = Field(ge=2)
    node_names: tuple[str, ...] = Field(alias="nodes", description="By rank.")
    library: str
    sizes: tuple[_Size, ...] = Field(min_length=2)


class MpiCollective(MultiNodeTest, abstract=True):
    """The family's base: what counts for the bus is the share that crosses each node's wire."""

    params_class = MpiCollectiveParams
    metrics_class = MpiCollectiveMetrics
    thresholds_class = MpiCollectiveThresholds
    takes_s = 15
    silent_for_s = 300.0  # a line for each size
    fixed_knobs = MappingProxyType({"largest_bytes": 16 << 20, "repeats": 20, "ranks_per_node": 1})
    operation: ClassVar[str]
    both_ways: ClassVar[int] = 1  # how often a share crosses: reduced there, and back as a sum

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_multi_node_slurm_batch_config(context, gpus_per_node=0)

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> MpiCollectiveMetrics:
        """Take the largest size for the bandwidth, each size for the values."""
        text = artifact_collector.get_custom_file("mpi-collective.json").read_text()
        report = MpiReport.model_validate_json(text)
        self._refuse_other_work(report, artifact_collector.metadata.node_names)
        smallest = min(report.sizes, key=lambda size: size.size_bytes)
        largest = max(report.sizes, key=lambda size: size.size_bytes)
        share = self.both_ways * (report.ranks - 1) / report.ranks
        typical_s = median(largest.times_s)
        if not typical_s > 0:
            raise NotMeasured(f"{largest.size_bytes} bytes took {typical_s} s: no clock of a rank")
        return MpiCollectiveMetrics(
            bus_bandwidth=share * largest.size_bytes / typical_s / 1e9,
            wrong_values=sum(sum(size.wrong) for size in report.sizes),
            spread=100 * (max(largest.times_s) - min(largest.times_s)) / typical_s,
            latency=median(smallest.times_s) * 1e6,
            buffer_size=largest.size_bytes / (1 << 30),
            rank_count=report.ranks,
            details=_details(report),
        )

    def _refuse_other_work(self, report: MpiReport, node_names: tuple[str, ...]) -> None:
        if report.operation != self.operation:
            raise NotMeasured(f"the report is of {report.operation}, not of {self.operation}")
        if sorted(report.node_names) != sorted(node_names) or report.ranks != len(
            report.node_names
        ):
            raise NotMeasured(
                f"{report.ranks} ranks were on {', '.join(report.node_names)}, not one on each of "
                f"{', '.join(node_names)}"
            )
        if any(len(size.wrong) != report.ranks for size in report.sizes):
            raise NotMeasured("not every rank said how many of its values were wrong")


def _details(report: MpiReport) -> dict[str, str]:
    """Name the nodes that received wrong values, and at which size."""
    wrong = [
        f"{node}: {count} of {size.size_bytes // 8} values at {size.size_bytes} bytes"
        for size in report.sizes
        for node, count in zip(report.node_names, size.wrong, strict=True)
        if count
    ]
    said = {"bus_bandwidth": f"{report.ranks} ranks, {report.library}"}
    return {**said, "wrong_values": clip_detail("; ".join(wrong))} if wrong else said


class MpiAllReduce(MpiCollective):
    slug = Slugs.MPI_ALL_REDUCE
    display_name = "MPI all-reduce"
    operation = "all-reduce"
    both_ways = 2


class MpiAllGather(MpiCollective):
    slug = Slugs.MPI_ALL_GATHER
    display_name = "MPI all-gather"
    operation = "all-gather"


class MpiAllToAll(MpiCollective):
    slug = Slugs.MPI_ALL_TO_ALL
    display_name = "MPI all-to-all"
    operation = "all-to-all"
