"""HPL on every core of the job, by HPC Challenge, in 80 % of its memory or some minutes' work."""

from __future__ import annotations

from runner.base import BaseRunner
from runner.contract.slugs import Slugs
from runner.endings import CannotRun
from runner.hpcc import run_hpcc
from runner.hpl_problem import largest_problem
from runner.job_share import job_bytes, job_cores, refuse_what_does_not_fit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.contract.wire import ExecutionContext
    from runner.workspace import WorkspaceManager

SHARE = 0.8
BLOCK = 192
# Some minutes of a core; in all of a terabyte it would be hours.
FLOP_OF_A_CORE = 1e13


class HplCpu(BaseRunner):
    slug = Slugs.HPL_CPU
    reads = frozenset()
    tools = (("mpirun", "--version"),)

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        share_bytes = int(job_bytes(workspace_manager) * SHARE)
        refuse_what_does_not_fit(share_bytes, workspace_manager.node_name, share=SHARE)
        problem = largest_problem(share_bytes, job_cores(), nb=BLOCK, flop_each=FLOP_OF_A_CORE)
        if problem.n < BLOCK * problem.q:
            raise CannotRun(
                f"the job's memory holds no block of HPL for each of {problem.ranks} cores:"
                " give it more"
            )
        run_hpcc(workspace_manager, problem)
