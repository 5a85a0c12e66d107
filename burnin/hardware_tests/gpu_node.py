"""What the node said of its GPUs before the workload: gpu-node.json, written by each GPU test."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.resource_classes import HARDWARE
from burnin.hardware_tests.thresholds.schema import ThresholdSet


class GpuNode(BaseModel):
    """`gpu_count` is what Slurm gave the job; `container` is empty if the tool came from PATH.

    Runners of older releases left no `gpu_maker`: they ran on shipped classes alone.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    gpu_count: int = Field(ge=1)
    resource_class: str
    container: str
    gpu_maker: str = ""

    @property
    def maker(self) -> str:
        """Return whose GPUs the class has; "" if nothing says it."""
        if self.gpu_maker or self.resource_class not in HARDWARE:
            return self.gpu_maker
        return HARDWARE[self.resource_class].gpu_maker


def read_gpu_node(artifact_collector: ArtifactCollector) -> GpuNode:
    return GpuNode.model_validate_json(
        artifact_collector.get_custom_file("gpu-node.json").read_text()
    )


def refuse_other_count(artifact_collector: ArtifactCollector, found: int, tool: str) -> None:
    """Raise NotMeasured if the tool worked on fewer or more GPUs than the job was given."""
    given = read_gpu_node(artifact_collector).gpu_count
    if found != given:
        raise NotMeasured(f"{tool} worked on {found} GPUs, the job was given {given}")


def refuse_other_class(gpu_count: int, thresholds: ThresholdSet) -> None:
    """Raise NotMeasured if nodes of the class have fewer or more GPUs: it is measured otherwise."""
    resource_class = thresholds.resource_class
    if thresholds.hardware is None:
        raise NotMeasured(f"what nodes of {resource_class} are made of is not stated: plan it anew")
    expected = thresholds.hardware.gpus_per_node
    if gpu_count != expected:
        raise NotMeasured(
            f"{gpu_count} GPUs were measured, and a node of {resource_class} has {expected}:"
            " see its class in the inventory"
        )
