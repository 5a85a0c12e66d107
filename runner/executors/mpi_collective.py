"""MPI collectives over the job's nodes, one rank a node, by a worker of this bundle."""

from __future__ import annotations

from runner.base import BaseRunner
from runner.contract.slugs import Slugs
from runner.endings import CannotRun
from runner.multi_node import mpi_workers, why_no_report
from runner.workers.names import MPI_COLLECTIVE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import ClassVar

    from runner.contract.wire import ExecutionContext
    from runner.workspace import WorkspaceManager

REPORT = "mpi-collective.json"


class MpiCollective(BaseRunner):
    """The family's base: each test is one operation."""

    reads = frozenset()
    operation: ClassVar[str]

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        report = workspace_manager.get_custom_artifact_path(REPORT)
        done = workspace_manager.run_command(
            mpi_workers(context, MPI_COLLECTIVE, f"op={self.operation}", f"report={report}")
        )
        if not report.exists():
            raise CannotRun(why_no_report(done, self.operation))


class MpiAllReduce(MpiCollective):
    slug = Slugs.MPI_ALL_REDUCE
    operation = "all-reduce"


class MpiAllGather(MpiCollective):
    slug = Slugs.MPI_ALL_GATHER
    operation = "all-gather"


class MpiAllToAll(MpiCollective):
    slug = Slugs.MPI_ALL_TO_ALL
    operation = "all-to-all"
