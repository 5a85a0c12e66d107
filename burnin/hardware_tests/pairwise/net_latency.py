"""Latency of each link between two nodes, both directions, one link at a time.

perftest's RDMA writes of 8 bytes where both nodes have RDMA ports; of GPU memory its sends, as it
measures no writes there. Where neither has a port, MPI over whatever network the site gives it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, quantiles
from types import MappingProxyType

from pydantic import Field

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.metrics import (
    Better,
    MetricUnit,
    MetricValue,
    PairwiseNetworkMetrics,
    metric,
)
from burnin.hardware_tests.pairwise.links import (
    Links,
    MpiPingPong,
    MpiWay,
    Transport,
    Way,
    read_links,
    read_ping_pong,
    read_ways,
)
from burnin.hardware_tests.pairwise.network import (
    ALL_GPUS,
    PairNetwork,
    failed_links,
    failure_rows,
    link_details,
    named,
    pair_rows,
    wrong_details,
    wrong_values,
)
from burnin.hardware_tests.parsers.perftest import PerftestReport
from burnin.hardware_tests.thresholds.schema import Thresholds
from runner.contract.slugs import Slugs

MESSAGE_BYTES = 8


class PairLatencyMetrics(PairwiseNetworkMetrics):
    """In operator order. Half a round trip; without a link that answered there is none."""

    latency: MetricValue = metric(
        MetricUnit.MICROSECONDS, better=Better.LOWER, label="Slowest link, mean", plausible=(1, 500)
    )
    p99_latency: MetricValue = metric(
        MetricUnit.MICROSECONDS, better=Better.LOWER, label="Slowest link, p99", plausible=(1, 500)
    )
    failed_links: int = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Links that carried no data"
    )
    rdma_links: int = metric(MetricUnit.COUNT, better=Better.HIGHER, label="RDMA links")
    wrong_values: MetricValue = metric(MetricUnit.COUNT, better=Better.LOWER, label="Wrong values")


class PairLatencyThresholds(Thresholds):
    """Limits in each metric's unit. The values are in thresholds.yaml."""

    latency: float = Field(gt=0)
    p99_latency: float = Field(gt=0)
    failed_links: int = Field(ge=0)
    rdma_links: int = Field(ge=0)
    wrong_values: int = Field(ge=0)


@dataclass(frozen=True)
class _Latency:
    """In microseconds."""

    mean: float
    p99: float


class PairNetLatency(PairNetwork):
    slug = Slugs.PAIR_NET_LATENCY
    display_name = "Network latency of a pair"
    metrics_class = PairLatencyMetrics
    thresholds_class = PairLatencyThresholds
    fixed_knobs = MappingProxyType(
        {"message_bytes": MESSAGE_BYTES, "repetitions": 10000, "verb": "write"}
    )
    fingerprint_tools = ("ib_write_lat",)
    primary = "latency"

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> PairLatencyMetrics:
        """Take the slowest link in its slower direction; name those that never answered."""
        links = read_links(artifact_collector)
        if links.transport is Transport.MPI:
            report = read_ping_pong(artifact_collector, "latency", size_bytes=MESSAGE_BYTES)
            ways = [Way(each.source, each.target, "", _of_mpi(each)) for each in report.directions]
            return _metrics(artifact_collector, links, ways, report)
        return _metrics(artifact_collector, links, read_ways(artifact_collector, links, _of_report))


class PairNetLatencyGpu(PairNetLatency):
    slug = Slugs.PAIR_NET_LATENCY_GPU
    display_name = "Network latency of a pair, GPU memory"
    fixed_knobs = MappingProxyType(
        {"message_bytes": MESSAGE_BYTES, "repetitions": 10000, "verb": "send"}
    )
    fingerprint_tools = ("ib_send_lat",)
    gpu_makers = ALL_GPUS
    container = "perftest"


def _of_report(report: PerftestReport) -> _Latency:
    row = report.latency_at(MESSAGE_BYTES)
    if row.p99_s is None:
        raise NotMeasured("perftest's report has no 99 % percentile: it was run by duration")
    return _Latency(row.average_s * 1e6, row.p99_s * 1e6)


def _of_mpi(way: MpiWay) -> _Latency:
    halves = [time_s * 1e6 / 2 for time_s in way.times_s]
    if len(halves) < 100:
        raise NotMeasured(f"{len(halves)} round trips are too few for a 99 % percentile")
    return _Latency(fmean(halves), quantiles(halves, n=100)[98])


def _metrics(
    artifact_collector: ArtifactCollector,
    links: Links,
    ways: Sequence[Way[_Latency]],
    mpi: MpiPingPong | None = None,
) -> PairLatencyMetrics:
    failed = failed_links(links, ways)
    means, p99s = _one(ways, lambda row: row.mean), _one(ways, lambda row: row.p99)
    rows = failure_rows(artifact_collector.metadata.node_names, len(failed))
    return PairLatencyMetrics(
        latency=means[0].row if means else None,
        p99_latency=p99s[0].row if p99s else None,
        failed_links=len(failed),
        rdma_links=len(links.links),
        wrong_values=float(wrong_values(mpi)) if mpi else None,  # perftest looks at none
        pairs=(*pair_rows("latency", means), *pair_rows("p99_latency", p99s), *rows),
        details={
            **link_details(links, failed, mpi),
            **({"latency": named(means), "p99_latency": named(p99s)} if means else {}),
            **(wrong_details(mpi) if mpi else {}),
        },
    )


def _one(ways: Sequence[Way[_Latency]], pick: Callable[[_Latency], float]) -> list[Way[float]]:
    """Return one figure of each direction that was measured, the worst first."""
    measured = [(pick(way.row), way) for way in ways if way.row is not None]
    ordered = sorted(measured, key=lambda each: each[0], reverse=True)
    return [Way(way.source, way.target, way.link, value) for value, way in ordered]
