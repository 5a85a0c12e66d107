"""Data-parallel training on the CPUs, one rank a node: numpy computes, MPI sums the gradients."""

from __future__ import annotations

from types import MappingProxyType

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.batch import SlurmBatchConfig, make_multi_node_slurm_batch_config
from burnin.hardware_tests.multi_node.training import (
    Training,
    TrainingMetrics,
    measured_values,
    refuse_other_places,
)
from burnin.hardware_tests.multi_node.training_report import read_report
from burnin.hardware_tests.run_context import RunContext
from runner.contract.slugs import Slugs


class DistributedTrainingCpu(Training):
    slug = Slugs.DISTRIBUTED_TRAINING_CPU
    display_name = "Distributed training on CPUs"
    metrics_class = TrainingMetrics
    fixed_knobs = MappingProxyType(
        {"batch": 256, "layers": "512-1024-64", "dtype": "float64", "ranks_per_node": 1}
    )
    fingerprint_tools = ("numpy", "blas", "mpi")

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_multi_node_slurm_batch_config(context, gpus_per_node=0)

    def extract_metrics(self, artifact_collector: ArtifactCollector) -> TrainingMetrics:
        report = read_report(artifact_collector)
        refuse_other_places(report, list(artifact_collector.metadata.node_names))
        return TrainingMetrics.model_validate(measured_values(report, flops_of_unit=1e9))
