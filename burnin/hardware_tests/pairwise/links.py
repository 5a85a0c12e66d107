"""What the runner left of a pair: which links there are, and what each did in each direction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from itertools import permutations
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict, Field, NonNegativeInt

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.parsers import perftest
from burnin.hardware_tests.parsers.perftest import PerftestReport
from burnin.hardware_tests.parsers.refusal import ParseError, RefusalKind
from burnin.hardware_tests.rdma_ports import ports_of

# Work completions by which a card says that the other end did not answer.
LINK_FAULTS = frozenset({5, 12, 13})
NAMED = 5  # in a detail

Row = TypeVar("Row")


class Transport(StrEnum):
    RDMA = "rdma"
    MPI = "mpi"


class Links(BaseModel):
    """results/links.json. `lost` are links that only one of the nodes has, and why."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    links: tuple[str, ...]
    lost: dict[str, str]
    transport: Transport


class MpiWay(BaseModel):
    """One direction of the ping-pong. `times_s` are of a message and its answer."""

    model_config = ConfigDict(allow_inf_nan=False)

    source: str
    target: str
    times_s: tuple[float, ...] = Field(min_length=1)
    wrong: tuple[NonNegativeInt, NonNegativeInt] = Field(description="By rank.")


class MpiPingPong(BaseModel):
    """results/mpi-ping-pong.json, as rank 0 writes it."""

    operation: str
    node_names: tuple[str, str] = Field(alias="nodes", description="By rank.")
    library: str
    size_bytes: int = Field(alias="bytes", gt=0)
    directions: tuple[MpiWay, MpiWay]


@dataclass(frozen=True)
class Way(Generic[Row]):
    """One direction over one link: what was measured, or by what fault nothing was."""

    source: str
    target: str
    link: str
    row: Row | None
    fault: str = ""

    @property
    def name(self) -> str:
        return f"{self.source}→{self.target} {self.link}".rstrip()


def read_links(artifact_collector: ArtifactCollector) -> Links:
    node_names = artifact_collector.metadata.node_names
    if len(node_names) != 2:
        raise NotMeasured(f"a pair is two nodes, and this run was on {len(node_names)}")
    return Links.model_validate_json(artifact_collector.get_custom_file("links.json").read_text())


def read_rates(artifact_collector: ArtifactCollector, links: Links) -> dict[str, float]:
    """Return the rate of each link's slower port in Gb/s. Raises NotMeasured for an unknown one."""
    rates: dict[str, float] = {}
    for node in artifact_collector.metadata.node_names if links.links else ():
        ports = ports_of(artifact_collector, node)
        for link in links.links:
            rate = ports[link].rate if link in ports else None
            if not rate or rate < 0:
                raise NotMeasured(f"{node} does not say the rate of its port {link}")
            rates[link] = min(rate, rates.get(link, rate))
    return rates


def read_ways(
    artifact_collector: ArtifactCollector, links: Links, row_of: Callable[[PerftestReport], Row]
) -> list[Way[Row]]:
    """Return both directions of every link that both nodes have."""
    return [
        _read(artifact_collector, source, target, link, row_of)
        for link in links.links
        for source, target in permutations(artifact_collector.metadata.node_names)
    ]


def _read(
    artifact_collector: ArtifactCollector,
    source: str,
    target: str,
    link: str,
    row_of: Callable[[PerftestReport], Row],
) -> Way[Row]:
    name = f"perftest/{source}--{target}--{link.replace(':', '.')}.txt"
    try:
        report = perftest.parse(artifact_collector.get_custom_file(name).read_text())
    except ParseError as error:
        if error.kind is RefusalKind.RDMA_ERROR and error.facts.get("status") in LINK_FAULTS:
            return Way(source, target, link, None, error.reason)
        raise
    if report.device != link.partition(":")[0]:
        raise NotMeasured(f"the report {name} is of the device {report.device}")
    return Way(source, target, link, row_of(report))


def read_library(artifact_collector: ArtifactCollector) -> str:
    return _ping_pong(artifact_collector).library


def _ping_pong(artifact_collector: ArtifactCollector) -> MpiPingPong:
    text = artifact_collector.get_custom_file("mpi-ping-pong.json").read_text()
    return MpiPingPong.model_validate_json(text)


def read_ping_pong(
    artifact_collector: ArtifactCollector, operation: str, *, size_bytes: int
) -> MpiPingPong:
    """Return the report of both directions. Raises NotMeasured for one of other work."""
    report = _ping_pong(artifact_collector)
    node_names = artifact_collector.metadata.node_names
    ways = [(each.source, each.target) for each in report.directions]
    is_whole = sorted(ways) == sorted(permutations(report.node_names))
    is_of_both = sorted(report.node_names) == sorted(node_names)
    if report.operation != operation or not (is_whole and is_of_both):
        raise NotMeasured(
            f"the report is of {report.operation} between {' and '.join(report.node_names)}, "
            f"not of {operation} between {' and '.join(node_names)}"
        )
    if report.size_bytes != size_bytes:
        raise NotMeasured(f"messages of {report.size_bytes} bytes were sent, not of {size_bytes}")
    if not all(time_s > 0 for each in report.directions for time_s in each.times_s):
        raise NotMeasured("a message took no time: a rank had no clock")
    return report
