"""TCP between every ordered pair of nodes: does each reach each, and which is the slowest?

It is the Ethernet of management and storage, not the fabric of the GPUs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import permutations
from statistics import median
from types import MappingProxyType
from typing import Any

from pydantic import Field

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import MultiNodeTest
from burnin.hardware_tests.batch import SlurmBatchConfig, make_multi_node_slurm_batch_config
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.metrics import (
    BaseMetrics,
    Better,
    MetricUnit,
    clip_detail,
    metric,
)
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.parsers import iperf3
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.thresholds.schema import Thresholds
from runner.contract.slugs import Slugs

NAMED = 5  # pairs in a detail


class IperfMatrixParams(TestParams):
    """Streams are fixed in the recipe: their number moves the right floor."""

    duration_s: int = Field(default=5, ge=1, le=60, description="Seconds of each pair.")


class IperfMatrixMetrics(BaseMetrics):
    """In operator order."""

    slowest_pair: float = metric(
        MetricUnit.GBPS, better=Better.HIGHER, label="Slowest pair", plausible=(0.5, 450)
    )
    failed_pairs: int = metric(
        MetricUnit.COUNT, better=Better.LOWER, label="Pairs without a connection"
    )
    median_pair: float = metric(MetricUnit.GBPS, label="Median pair")
    most_retransmits: int = metric(MetricUnit.COUNT, label="Most retransmits of a pair")
    pair_count: int = metric(MetricUnit.COUNT, label="Ordered pairs", api_visible=False)


class IperfMatrixThresholds(Thresholds):
    """Limits in each metric's unit. The values are in thresholds.yaml."""

    slowest_pair: float = Field(gt=0)
    failed_pairs: int = Field(ge=0)


@dataclass(frozen=True)
class _Pair:
    name: str
    gbps: float
    retransmits: int


class IperfMatrix(MultiNodeTest):
    slug = Slugs.IPERF_MATRIX
    display_name = "iperf3 between all pairs"
    takes_s = 10
    silent_for_s = 300.0  # a line for each round, of a minute at most
    params_class = IperfMatrixParams
    metrics_class = IperfMatrixMetrics
    thresholds_class = IperfMatrixThresholds
    fixed_knobs = MappingProxyType({"streams": 4, "omit_s": 1})
    fingerprint_tools = ("iperf3",)

    @classmethod
    def timed_phases(cls, params: Mapping[str, Any]) -> int:
        """Of two nodes; each further pair of nodes adds two rounds."""
        return 2

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_multi_node_slurm_batch_config(context, gpus_per_node=0)

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> IperfMatrixMetrics:
        """Read a report of every ordered pair; one that could not connect is a finding."""
        measured: list[_Pair] = []
        failed: list[str] = []
        for source, target in permutations(artifact_collector.metadata.node_names, 2):
            file = artifact_collector.get_custom_file(f"iperf/{source}--{target}.json")
            found = _read(f"{source}→{target}", file.read_text())
            if isinstance(found, _Pair):
                measured.append(found)
            else:
                failed.append(found)
        if not measured:
            raise NotMeasured(f"no pair could connect: {failed[0] if failed else 'none was asked'}")
        slowest = sorted(measured, key=lambda pair: pair.gbps)
        resent = max(measured, key=lambda pair: pair.retransmits)
        return IperfMatrixMetrics(
            slowest_pair=slowest[0].gbps,
            failed_pairs=len(failed),
            median_pair=median(pair.gbps for pair in measured),
            most_retransmits=resent.retransmits,
            pair_count=len(measured) + len(failed),
            details={
                "slowest_pair": ", ".join(
                    f"{each.name} {each.gbps:.3g}" for each in slowest[:NAMED]
                ),
                "most_retransmits": resent.name,
                **({"failed_pairs": clip_detail("; ".join(failed))} if failed else {}),
            },
        )


def _read(name: str, text: str) -> _Pair | str:
    """Return what the pair moved, or why it moved nothing."""
    try:
        report = iperf3.parse(text)
    except ParseError as error:
        if error.kind is not RefusalKind.ERROR:
            raise
        return f"{name}: {error.reason}"
    if report.error or report.received is None:
        return f"{name}: {report.error or 'nothing arrived'}"
    resent = report.sent.retransmits if report.sent else None
    return _Pair(name, report.received.bits_per_s / 1e9, resent or 0)
