"""AMD's own validation suite (`rvs -r`) at the level asked for, on every GPU of the node."""

from __future__ import annotations

from runner.base import BaseRunner
from runner.contract.slugs import Slugs
from runner.gpu_tools import GpuNode
from runner.rocm import run_rvs

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.contract.wire import ExecutionContext
    from runner.workspace import WorkspaceManager

# What AMD's rvs/conf/MI300X/levels add up to is 5 minutes, 20 minutes, and 4 hours beside the
# memory test; a suite that has not ended by then hangs.
LONGEST_S = {3: 3600, 4: 4 * 3600, 5: 12 * 3600}


class Rvs(BaseRunner):
    slug = Slugs.RVS
    reads = frozenset({"level"})

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        level = int(context.params["level"])
        node = GpuNode()
        node.write(workspace_manager)
        run_rvs(node, workspace_manager, "-r", str(level), timeout_s=LONGEST_S[level])
