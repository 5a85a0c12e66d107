"""An all-reduce between the GPUs of one node: over their own links, or through the node's NICs."""

from __future__ import annotations

from runner.base import BaseRunner
from runner.contract.slugs import Slugs
from runner.nccl import run_nccl_tests

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import ClassVar

    from runner.contract.wire import ExecutionContext
    from runner.workspace import WorkspaceManager

LONGEST_S = 900  # through the NICs it takes three minutes


class NcclLoopback(BaseRunner):
    slug = Slugs.NCCL_LOOPBACK
    reads = frozenset()
    env: ClassVar[Mapping[str, str]] = {}

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        run_nccl_tests(
            context, workspace_manager, "all_reduce_perf", timeout_s=LONGEST_S, env=self.env
        )


class NcclLoopbackNetwork(NcclLoopback):
    """Every way between two GPUs that is none through a NIC is closed."""

    slug = Slugs.NCCL_LOOPBACK_NETWORK
    env: ClassVar[Mapping[str, str]] = {
        "NCCL_P2P_DISABLE": "1",
        "NCCL_SHM_DISABLE": "1",
        "NCCL_NVLS_ENABLE": "0",
        "NCCL_NET_GDR_LEVEL": "5",
        # Says which network it took: it takes sockets where it finds no other.
        "NCCL_DEBUG": "INFO",
        "NCCL_DEBUG_SUBSYS": "INIT",
    }
