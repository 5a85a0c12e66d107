"""stressapptest over 90 % of what Slurm gave the job: nodes may share a machine's memory."""

from __future__ import annotations

from runner.base import BaseRunner
from runner.contract.slugs import Slugs
from runner.endings import CannotRun
from runner.job_share import MIB, job_bytes, job_cpus, refuse_what_does_not_fit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.contract.wire import ExecutionContext
    from runner.workspace import WorkspaceManager

SHARE = 0.9
SLOWNESS = 2  # filling and checking terabytes takes about as long again as a short test
SETTLE_S = 120


class MemoryStress(BaseRunner):
    slug = Slugs.MEMORY_STRESS
    reads = frozenset({"duration_s"})
    tools = (("stressapptest", "--help"),)

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        duration_s = int(context.params["duration_s"])
        share_mib = int(job_bytes(workspace_manager) * SHARE) // MIB
        refuse_what_does_not_fit(share_mib * MIB, workspace_manager.node_name, share=SHARE)
        report = workspace_manager.get_custom_artifact_path("stressapptest.txt")
        done = workspace_manager.run_command(
            stressapptest(duration_s, share_mib, threads=job_cpus()),
            timeout_s=duration_s * SLOWNESS + SETTLE_S,
            capture_to=report,
        )
        if b"Status:" not in report.read_bytes():
            done.refuse_hang("stressapptest")
            raise CannotRun(
                f"stressapptest left no status (exit {done.exit_code}): {done.last_words}"
            )


def stressapptest(duration_s: int, memory_mib: int, *, threads: int) -> list[str]:
    """Return the fixed recipe's command line."""
    return (
        f"stressapptest -W -s {duration_s} -M {memory_mib} -m {threads} -v 8"  # -W: more CPU heat
    ).split()
