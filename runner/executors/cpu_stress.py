"""stress-ng, every method of its CPU stressor with every result checked, a worker for each CPU."""

from __future__ import annotations

import os

from runner.base import BaseRunner
from runner.contract.slugs import Slugs
from runner.endings import CannotRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from runner.contract.wire import ExecutionContext
    from runner.workspace import WorkspaceManager

SETTLE_S = 120  # a run that has not ended this long after its time hangs


class CpuStress(BaseRunner):
    slug = Slugs.CPU_STRESS
    reads = frozenset({"duration_s"})
    tools = (("stress-ng", "--version"),)

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        duration_s = int(context.params["duration_s"])
        report = workspace_manager.get_custom_artifact_path("stress-ng.txt")
        done = workspace_manager.run_command(
            stress_ng(
                duration_s,
                workers=len(os.sched_getaffinity(0)),
                report=report,
                scratch=workspace_manager.directory,
            ),
            timeout_s=duration_s + SETTLE_S,
        )
        done.refuse_hang("stress-ng")
        if not report.exists() or b"run completed in" not in report.read_bytes():
            raise CannotRun(
                f"stress-ng did not get to its end (exit {done.exit_code}): {done.last_words}"
            )


def stress_ng(duration_s: int, *, workers: int, report: Path, scratch: Path) -> list[str]:
    """Return the fixed recipe's command line."""
    recipe = f"stress-ng --cpu {workers} --cpu-method all --verify --metrics --timeout {duration_s}"
    return [*recipe.split(), "--temp-path", str(scratch), "--log-file", str(report)]
