"""One phase of fio, whose report says more than its exit code."""

from __future__ import annotations

from runner.endings import CannotRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from runner.workspace import WorkspaceManager

ALWAYS = (
    "--direct=1",
    "--ioengine=libaio",
    "--allow_file_create=0",  # a missing device would become a file in /dev, and RAM be measured
    "--output-format=json",
)
SETTLE_S = 300  # a phase that has not ended this long after its time hangs


def run_fio(
    workspace_manager: WorkspaceManager,
    argv: Sequence[str],
    *,
    phase: str,
    report: Path,
    duration_s: int,
) -> None:
    """Run to a report, whatever it reports. Raises CannotRun if there is none."""
    workspace_manager.say(f"fio: {phase}")
    done = workspace_manager.run_command(argv, timeout_s=duration_s + SETTLE_S)
    if not report.exists() or b"{" not in report.read_bytes():
        done.refuse_hang(f"fio's {phase} phase")
        raise CannotRun(
            f"fio left no report of its {phase} phase (exit {done.exit_code}): {done.last_words}"
        )
