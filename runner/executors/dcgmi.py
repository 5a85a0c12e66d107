"""`dcgmi diag` at the level asked for, on every GPU of the node."""

from __future__ import annotations

from runner.base import BaseRunner
from runner.contract.slugs import Slugs
from runner.gpu_tools import GpuNode, run_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.contract.wire import ExecutionContext
    from runner.workspace import WorkspaceManager

# A diagnostic that has not ended by then hangs: NVIDIA names seconds, 2 and 15 minutes, and for
# level 4 up to 2 h 15.
LONGEST_S = {1: 600, 2: 1800, 3: 2 * 3600, 4: 4 * 3600}
ITS_JSON, ITS_TABLE = ('"DCGM Diagnostic"', '"DCGM GPU Diagnostic"'), "| Diagnostic  "


class Dcgmi(BaseRunner):
    slug = Slugs.DCGMI
    reads = frozenset({"level"})

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        level = int(context.params["level"])
        node = GpuNode()
        node.write(workspace_manager)
        run_tool(
            workspace_manager,
            node.once("dcgmi", "diag", "-r", str(level), "-j"),
            report=workspace_manager.get_custom_artifact_path("dcgmi-diag.txt"),
            end_marks=(*ITS_JSON, ITS_TABLE),
            timeout_s=LONGEST_S[level],
        )
