"""What every node said of its RDMA ports: results/rdma/<node>.json."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, TypeAdapter

from burnin.hardware_tests.artifacts import ArtifactCollector, MissingArtifact

ACTIVE = "ACTIVE"


class Port(BaseModel):
    """One port, by a name like mlx5_0:1. The rate is in Gb/s; None if the kernel says none."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    state: str
    rate: float | None


_PORTS = TypeAdapter(dict[str, Port])


def ports_of(artifact_collector: ArtifactCollector, node: str) -> dict[str, Port]:
    """Return the ports of one node. Raises MissingArtifact."""
    return _PORTS.validate_json(artifact_collector.get_custom_file(f"rdma/{node}.json").read_text())


def least_rate(artifact_collector: ArtifactCollector) -> float | None:
    """Return the rate of all fastest active ports of the node with least; None if unknown."""
    try:
        nodes = [
            ports_of(artifact_collector, node) for node in artifact_collector.metadata.node_names
        ]
    except MissingArtifact:
        return None
    active = [[port.rate for port in each.values() if port.state == ACTIVE] for each in nodes]
    if any(not rate for rates in active for rate in rates):
        return None
    known = [[rate for rate in rates if rate] for rates in active]
    return min(max(rates) * rates.count(max(rates)) if rates else 0.0 for rates in known)
