"""An all-reduce between the GPUs of one node: over their own links, or through the node's NICs."""

from __future__ import annotations

from types import MappingProxyType

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.base import SingleNodeTest
from burnin.hardware_tests.batch import SlurmBatchConfig, make_single_node_slurm_batch_config
from burnin.hardware_tests.evaluation import NotMeasured
from burnin.hardware_tests.nccl import NcclTest
from burnin.hardware_tests.parsers.nccl_report import NcclReport
from burnin.hardware_tests.run_context import RunContext
from runner.contract.slugs import Slugs

SOCKETS = "Socket"


class NcclLoopback(NcclTest, SingleNodeTest):
    slug = Slugs.NCCL_LOOPBACK
    display_name = "NCCL within a node"

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_single_node_slurm_batch_config(context, gpus_per_node=context.gpus_per_node)


class NcclLoopbackNetwork(NcclLoopback):
    slug = Slugs.NCCL_LOOPBACK_NETWORK
    display_name = "NCCL through a node's NICs"
    fixed_knobs = MappingProxyType(
        {**NcclLoopback.fixed_knobs, "p2p": "off", "shm": "off", "nvls": "off", "gdr_level": 5}
    )

    def refuse_other_work(self, report: NcclReport, artifact_collector: ArtifactCollector) -> None:
        """Sockets go through the kernel: they say nothing of the NICs that the GPUs use."""
        super().refuse_other_work(report, artifact_collector)
        if not report.networks or SOCKETS in report.networks:
            took = " and ".join(report.networks) or "no network that it names"
            raise NotMeasured(
                f"NCCL took {took}, no NIC that its GPUs reach: look at the node's NICs, and for "
                "NCCL's network plugin"
            )
