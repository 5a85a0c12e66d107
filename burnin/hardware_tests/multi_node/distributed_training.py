"""Data-parallel training on GPUs under torchrun: fixed transformer and data, one rank a GPU."""

from __future__ import annotations

from types import MappingProxyType

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.batch import SlurmBatchConfig, make_multi_node_slurm_batch_config
from burnin.hardware_tests.gpu_node import read_gpu_node
from burnin.hardware_tests.metrics import Better, MetricUnit, metric
from burnin.hardware_tests.multi_node.training import (
    Training,
    TrainingMetrics,
    measured_values,
    refuse_other_places,
)
from burnin.hardware_tests.multi_node.training_report import read_report
from burnin.hardware_tests.parsers import training_failure
from burnin.hardware_tests.run_context import RunContext
from fleet.hardware import AMD, NVIDIA
from runner.contract.slugs import Slugs


class DistributedTrainingMetrics(TrainingMetrics):
    """The same, with another unit for what a GPU can do."""

    throughput: float = metric(
        MetricUnit.TFLOPS,
        better=Better.HIGHER,
        label="Throughput of the slowest GPU",
        plausible=(10, 5000),
    )


class DistributedTraining(Training):
    slug = Slugs.DISTRIBUTED_TRAINING
    display_name = "Distributed training"
    metrics_class = DistributedTrainingMetrics
    fixed_knobs = MappingProxyType(
        {"layers": 16, "hidden": 2048, "sequence": 2048, "batch": 4, "precision": "bf16"}
    )
    fingerprint_tools = ("torch", "runtime")
    gpu_makers = frozenset({NVIDIA, AMD})
    container = "pytorch"

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_multi_node_slurm_batch_config(context, gpus_per_node=context.gpus_per_node)

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> DistributedTrainingMetrics:
        """Refuse a failed training in torchrun's own words, which name rank and node."""
        log = artifact_collector.get_custom_file("training-log.txt").read_text(errors="replace")
        training_failure.refuse_failures(log)
        report = read_report(artifact_collector)
        gpus = range(read_gpu_node(artifact_collector).gpu_count)
        nodes = artifact_collector.metadata.node_names
        refuse_other_places(report, [f"{node}:{gpu}" for node in nodes for gpu in gpus])
        values = measured_values(report, flops_of_unit=1e12)
        return DistributedTrainingMetrics.model_validate(values)
