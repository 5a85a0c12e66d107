"""Data-parallel training over the job's nodes, one rank a node, by a worker of this bundle."""

from __future__ import annotations

from runner.base import BaseRunner
from runner.contract.slugs import Slugs
from runner.endings import CannotRun
from runner.multi_node import mpi_workers, why_no_report
from runner.workers.names import TRAINING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.contract.wire import ExecutionContext
    from runner.workspace import WorkspaceManager

SETTLE_S = 300  # ranks that have not ended this long after their time hang


class TrainingCpu(BaseRunner):
    slug = Slugs.DISTRIBUTED_TRAINING_CPU
    reads = frozenset({"duration_s"})

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        duration_s = int(context.params["duration_s"])
        report = workspace_manager.get_custom_artifact_path("training.json")
        done = workspace_manager.run_command(
            mpi_workers(context, TRAINING, f"duration_s={duration_s}", f"report={report}"),
            timeout_s=duration_s + SETTLE_S,
        )
        done.refuse_hang("the training")
        if not report.exists():
            raise CannotRun(why_no_report(done, "the training"))
