"""What the four tests between two nodes share: params, the shape of a run, how it is judged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any, ClassVar

from pydantic import Field, field_validator

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import PairwiseNetworkTestBase
from burnin.hardware_tests.batch import SlurmBatchConfig, make_pairwise_slurm_batch_config
from burnin.hardware_tests.evaluation import EvaluationResult, IterationSummary, NotMeasured
from burnin.hardware_tests.metrics import BaseMetrics, PairMetric, clip_detail
from burnin.hardware_tests.pairwise.links import (
    NAMED,
    Links,
    MpiPingPong,
    Transport,
    Way,
    read_library,
    read_links,
)
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.thresholds.schema import ThresholdSet
from fleet.hardware import AMD, NVIDIA

ALL_GPUS = frozenset({NVIDIA, AMD})
OF_ALL_LINKS = frozenset({"rdma_links", "fabric_rate"})


class PairParams(TestParams):
    """Message size and repetitions are fixed in the recipe: each moves the right bound."""

    devices: tuple[str, ...] = Field(
        default=(),
        max_length=64,
        description="RDMA devices, like mlx5_0, each a link between both nodes. Without any: the "
        "fastest active ports of either node. Where no node has one, MPI takes its network.",
    )

    @field_validator("devices")
    @classmethod
    def _are_names(cls, devices: tuple[str, ...]) -> tuple[str, ...]:
        if odd := [name for name in devices if not name.replace("-", "_").isidentifier()]:
            raise ValueError(f"{odd[0]!r:.60} is no device name")
        return devices


class PairNetwork(PairwiseNetworkTestBase, abstract=True):
    """`primary` is the metric without which nothing was measured."""

    params_class = PairParams
    takes_s = 60
    silent_for_s = 300.0  # a line for each pair
    primary: ClassVar[str]

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        gpus = context.gpus_per_node if self.gpu_makers else 0
        return make_pairwise_slurm_batch_config(context, gpus_per_node=gpus)

    def tool_versions(self, artifact_collector: ArtifactCollector) -> Mapping[str, str]:
        """Name what measured: a bound for RDMA says nothing of MPI over another network."""
        if read_links(artifact_collector).transport is Transport.MPI:
            library = read_library(artifact_collector)
            return dict.fromkeys(self.fingerprint_tools, f"mpi: {library}")
        return super().tool_versions(artifact_collector)

    @classmethod
    def evaluate(
        cls,
        metrics: BaseMetrics,
        thresholds: ThresholdSet,
        iteration_summary: IterationSummary | None = None,
        resolved_params: Mapping[str, Any] | None = None,
    ) -> EvaluationResult:
        """Gate as ever; pass nothing that carried nothing, and miss no link that was left out."""
        result = super().evaluate(metrics, thresholds, iteration_summary, resolved_params)
        _refuse_links_left_out(result, thresholds, (resolved_params or {}).get("devices", ()))
        if result.passed and getattr(metrics, cls.primary) is None:
            raise NotMeasured("no link between both nodes was measured: they share no active port")
        return result


def _refuse_links_left_out(
    result: EvaluationResult, thresholds: ThresholdSet, devices: Sequence[str]
) -> None:
    """Raise NotMeasured where only links are missing that the run was told to leave out."""
    wanted = thresholds.bounds["rdma_links"].value
    missed = {each.metric for each in result.entries if not each.passed}
    if devices and wanted and len(devices) < wanted and missed and missed <= OF_ALL_LINKS:
        raise NotMeasured(
            f"what was measured holds, but only {', '.join(devices)} of {wanted:g} links were asked"
            " for: name no devices to measure all"
        )


def failed_links(links: Links, ways: Sequence[Way[Any]]) -> dict[str, str]:
    """Return every link that did not carry data in both directions, and why."""
    faults = {way.link: f"{way.name}: {way.fault}" for way in ways if way.row is None}
    return {**links.lost, **faults}


def link_details(
    links: Links, failed: Mapping[str, str], mpi: MpiPingPong | None
) -> dict[str, str]:
    """Return what operators read beside the numbers of links."""
    instead = f"no active RDMA port; {mpi.library}" if mpi else "no active port that both have"
    names = ", ".join(links.links) or instead
    said = {"rdma_links": clip_detail(names)}
    return {**said, "failed_links": clip_detail("; ".join(failed.values()))} if failed else said


def wrong_values(report: MpiPingPong) -> int:
    return sum(sum(way.wrong) for way in report.directions)


def wrong_details(report: MpiPingPong) -> dict[str, str]:
    """Name the nodes that received wrong values, and in which direction."""
    said = [
        f"{node}: {count} values of {way.source}→{way.target}"
        for way in report.directions
        for node, count in zip(report.node_names, way.wrong, strict=True)
        if count
    ]
    return {"wrong_values": "; ".join(said)} if said else {}


def pair_rows(metric: str, ways: Sequence[Way[float]]) -> list[PairMetric]:
    """Return both directions of each link. A link that has only one direction has no row."""
    found = {(way.source, way.target, way.link) for way in ways if way.row is not None}
    return [
        PairMetric(
            source=way.source, target=way.target, metric=metric, value=way.row, link=way.link
        )
        for way in ways
        if way.row is not None and (way.target, way.source, way.link) in found
    ]


def failure_rows(node_names: Sequence[str], count: int) -> list[PairMetric]:
    return [
        PairMetric(source=source, target=target, metric="failed_links", value=float(count))
        for source, target in permutations(node_names)
    ]


def named(ways: Sequence[Way[float]]) -> str:
    return ", ".join(f"{way.name} {way.row:.4g}" for way in ways[:NAMED])
