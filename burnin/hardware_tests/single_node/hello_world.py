"""One node answers. The smallest test, and the one to copy: start reading here."""

from __future__ import annotations

from pydantic import BaseModel, Field

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import SingleNodeTest
from burnin.hardware_tests.batch import SlurmBatchConfig, make_single_node_slurm_batch_config
from burnin.hardware_tests.metrics import BaseMetrics, Better, MetricUnit, metric
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.thresholds.schema import Thresholds
from runner.contract.slugs import Slugs


class HelloWorldParams(TestParams):
    """Nothing to turn."""


class HelloWorldMetrics(BaseMetrics):
    """In reading order: the number that decides comes first."""

    responded: int = metric(MetricUnit.COUNT, better=Better.EXACT, label="Nodes that answered")


class HelloWorldThresholds(Thresholds):
    """Limits in each metric's unit. The values are in thresholds.yaml."""

    responded: int = Field(ge=1)


class Hello(BaseModel):
    """results/hello.json: what the node says of itself."""

    node_name: str
    hostname: str = Field(min_length=1)
    kernel: str = Field(min_length=1)
    python: str


class HelloWorld(SingleNodeTest):
    slug = Slugs.HELLO_WORLD
    display_name = "Hello, world"
    takes_s = 2
    silent_for_s = 300.0
    params_class = HelloWorldParams
    metrics_class = HelloWorldMetrics
    thresholds_class = HelloWorldThresholds

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_single_node_slurm_batch_config(context, gpus_per_node=0)

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> HelloWorldMetrics:
        """Count the answer only if it comes from the node that Slurm gave us."""
        answer = artifact_collector.get_custom_file("hello.json").read_text()
        hello = Hello.model_validate_json(answer)
        asked = artifact_collector.metadata.node_names
        return HelloWorldMetrics(
            responded=int(hello.node_name in asked),
            details={"responded": f"{hello.node_name}: {hello.hostname}, Linux {hello.kernel}"},
        )
