"""Bandwidth of each link between two nodes, both directions, one link at a time.

What a link must carry is a share of what its ports are: one class is sold with 8 ports of 400 Gb/s
here and with 16 of 200 there. A port that came up slower than it is shows in the sum of all rates.

perftest's RDMA writes where both nodes have RDMA ports, from host memory or from that of the GPU
next to each card. Where neither has one, MPI over whatever network the site gives it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from pydantic import Field

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.metrics import (
    Better,
    MetricUnit,
    MetricValue,
    PairwiseNetworkMetrics,
    clip_detail,
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
    read_rates,
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

MESSAGE_BYTES = 8 << 20
# Of a port of 200 Gb/s, 204.6 is on record; a good deal more than the rate is a rate misread.
MOST_SHARE = 105.0


class PairBandwidthMetrics(PairwiseNetworkMetrics):
    """In operator order. Without a link that carried data there is no bandwidth."""

    bandwidth: MetricValue = metric(
        MetricUnit.GBPS, better=Better.HIGHER, label="Slowest link", plausible=(4, 900)
    )
    port_share: MetricValue = metric(
        MetricUnit.PERCENT, better=Better.HIGHER, label="Slowest link, share of its port's rate"
    )
    failed_links: int = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Links that carried no data"
    )
    rdma_links: int = metric(MetricUnit.COUNT, better=Better.HIGHER, label="RDMA links")
    fabric_rate: MetricValue = metric(
        MetricUnit.GBPS, better=Better.HIGHER, label="Rate of all ports", plausible=(50, 20_000)
    )
    port_rate: MetricValue = metric(MetricUnit.GBPS, label="Rate of the slowest port")
    wrong_values: MetricValue = metric(MetricUnit.COUNT, better=Better.LOWER, label="Wrong values")
    spread: MetricValue = metric(MetricUnit.PERCENT, label="Spread over links and directions")
    message_size: float = metric(MetricUnit.GIB, label="Message", api_visible=False)


class PairBandwidthThresholds(Thresholds):
    """Limits in each metric's unit. The values are in thresholds.yaml."""

    bandwidth: float = Field(gt=0)
    port_share: float = Field(gt=0)
    failed_links: int = Field(ge=0)
    rdma_links: int = Field(ge=0)
    fabric_rate: float = Field(gt=0)
    wrong_values: int = Field(ge=0)


class PairNetBandwidth(PairNetwork):
    slug = Slugs.PAIR_NET_BANDWIDTH
    display_name = "Network bandwidth of a pair"
    metrics_class = PairBandwidthMetrics
    thresholds_class = PairBandwidthThresholds
    fixed_knobs = MappingProxyType(
        {"message_bytes": MESSAGE_BYTES, "repetitions": 5000, "queue_pairs": 1, "verb": "write"}
    )
    fingerprint_tools = ("ib_write_bw",)
    primary = "bandwidth"

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> PairBandwidthMetrics:
        """Take the slowest link in its slower direction; name those that carried nothing."""
        links = read_links(artifact_collector)
        rates = read_rates(artifact_collector, links)
        if links.transport is Transport.MPI:
            report = read_ping_pong(artifact_collector, "bandwidth", size_bytes=MESSAGE_BYTES)
            ways = [
                Way(each.source, each.target, "", _mpi_gbps(each)) for each in report.directions
            ]
            return _metrics(artifact_collector, links, ways, rates, mpi=report)
        ways = read_ways(artifact_collector, links, _gbps)
        return _metrics(artifact_collector, links, ways, rates)


class PairNetBandwidthGpu(PairNetBandwidth):
    slug = Slugs.PAIR_NET_BANDWIDTH_GPU
    display_name = "Network bandwidth of a pair, GPU memory"
    gpu_makers = ALL_GPUS
    container = "perftest"


def _gbps(report: PerftestReport) -> float:
    return report.bandwidth_at(MESSAGE_BYTES).average_bytes_per_s * 8 / 1e9


def _mpi_gbps(way: MpiWay) -> float:
    return len(way.times_s) * MESSAGE_BYTES * 8 / sum(way.times_s) / 1e9


def _metrics(
    artifact_collector: ArtifactCollector,
    links: Links,
    ways: Sequence[Way[float]],
    rates: Mapping[str, float],
    *,
    mpi: MpiPingPong | None = None,
) -> PairBandwidthMetrics:
    failed = failed_links(links, ways)
    shares = _shares(ways, rates)
    measured = sorted((way for way in ways if way.row is not None), key=lambda way: way.row or 0)
    gbps = [way.row for way in measured if way.row is not None]
    rows = failure_rows(artifact_collector.metadata.node_names, len(failed))
    return PairBandwidthMetrics(
        bandwidth=gbps[0] if gbps else None,
        port_share=shares[0].row if shares else None,
        failed_links=len(failed),
        rdma_links=len(links.links),
        fabric_rate=sum(rates.values()) if rates else None,
        port_rate=min(rates.values()) if rates else None,
        wrong_values=float(wrong_values(mpi)) if mpi else None,  # perftest looks at none
        spread=100 * (gbps[-1] - gbps[0]) / gbps[-1] if gbps else None,
        message_size=MESSAGE_BYTES / (1 << 30),
        pairs=(*pair_rows("bandwidth", ways), *pair_rows("port_share", shares), *rows),
        details={
            **_rate_details(rates),
            **link_details(links, failed, mpi),
            **({"bandwidth": named(measured)} if measured else {}),
            **({"port_share": named(shares)} if shares else {}),
            **(wrong_details(mpi) if mpi else {}),
        },
    )


def _shares(ways: Sequence[Way[float]], rates: Mapping[str, float]) -> list[Way[float]]:
    """Return what each way carried in percent of its port's rate, the least first."""
    if not rates:
        return []
    shares = [
        Way(way.source, way.target, way.link, 100 * way.row / rates[way.link])
        for way in ways
        if way.row is not None
    ]
    for way in shares:
        if way.row is not None and way.row > MOST_SHARE:
            raise NotMeasured(
                f"{way.name} carried {way.row:.4g} % of what its port says it can: "
                f"{rates[way.link]:g} Gb/s is not its rate"
            )
    return sorted(shares, key=lambda way: way.row or 0)


def _rate_details(rates: Mapping[str, float]) -> dict[str, str]:
    """Name the slowest ports, and say how many there are of each rate."""
    if not rates:
        return {}
    counts = Counter(rates.values())
    slowest = ", ".join(name for name, rate in rates.items() if rate == min(counts))
    said = ", ".join(f"{count} of {rate:g} Gb/s" for rate, count in sorted(counts.items()))
    return {"fabric_rate": said, "port_rate": clip_detail(slowest)}
