"""Collectives of NCCL or RCCL over every GPU of the job's nodes."""

from __future__ import annotations

from runner.base import BaseRunner
from runner.contract.slugs import Slugs
from runner.nccl import run_nccl_tests
from runner.node_ports import leave_ports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar

    from runner.contract.wire import ExecutionContext
    from runner.workspace import WorkspaceManager


class NcclCollective(BaseRunner):
    """The family's base: each test is one program of nccl-tests."""

    reads = frozenset()
    program: ClassVar[str]

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        # Whoever does not answer leaves no rate, and limits of a rate hold for no such result.
        leave_ports(context, workspace_manager)
        # No limit but the job's own: of a collective that hangs each member is suspect, and the
        # hub knows that only from a run that nothing had moved in until its time was over.
        run_nccl_tests(context, workspace_manager, self.program, timeout_s=None, env={})


class NcclAllReduce(NcclCollective):
    slug = Slugs.NCCL_ALL_REDUCE
    program = "all_reduce_perf"


class NcclAllGather(NcclCollective):
    slug = Slugs.NCCL_ALL_GATHER
    program = "all_gather_perf"


class NcclReduceScatter(NcclCollective):
    slug = Slugs.NCCL_REDUCE_SCATTER
    program = "reduce_scatter_perf"


class NcclAllToAll(NcclCollective):
    slug = Slugs.NCCL_ALL_TO_ALL
    program = "alltoall_perf"


class NcclSendrecv(NcclCollective):
    slug = Slugs.NCCL_SENDRECV
    program = "sendrecv_perf"


class NcclBroadcast(NcclCollective):
    slug = Slugs.NCCL_BROADCAST
    program = "broadcast_perf"
