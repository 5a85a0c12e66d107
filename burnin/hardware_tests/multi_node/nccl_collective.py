"""NCCL collectives over every GPU of several nodes: does every value arrive, and how fast?"""

from __future__ import annotations

from burnin.hardware_tests.base import MultiNodeTest
from burnin.hardware_tests.batch import SlurmBatchConfig, make_multi_node_slurm_batch_config
from burnin.hardware_tests.nccl import NcclTest
from burnin.hardware_tests.run_context import RunContext
from runner.contract.slugs import Slugs


class NcclCollective(NcclTest, MultiNodeTest, abstract=True):
    """The family's base: what is right moves with the number of nodes, so limits state theirs."""

    def make_batch_config(self, context: RunContext) -> SlurmBatchConfig:
        return make_multi_node_slurm_batch_config(context, gpus_per_node=context.gpus_per_node)


class NcclAllReduce(NcclCollective):
    slug = Slugs.NCCL_ALL_REDUCE
    display_name = "NCCL all-reduce"


class NcclAllGather(NcclCollective):
    slug = Slugs.NCCL_ALL_GATHER
    display_name = "NCCL all-gather"


class NcclReduceScatter(NcclCollective):
    slug = Slugs.NCCL_REDUCE_SCATTER
    display_name = "NCCL reduce-scatter"


class NcclAllToAll(NcclCollective):
    slug = Slugs.NCCL_ALL_TO_ALL
    display_name = "NCCL all-to-all"


class NcclSendrecv(NcclCollective):
    slug = Slugs.NCCL_SENDRECV
    display_name = "NCCL send and receive"


class NcclBroadcast(NcclCollective):
    slug = Slugs.NCCL_BROADCAST
    display_name = "NCCL broadcast"
