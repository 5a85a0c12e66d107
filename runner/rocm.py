"""How the tools of AMD's ROCm are started: RVS with a recipe of ours, and others by their name."""

from __future__ import annotations

from runner.gpu_tools import run_tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from runner.gpu_tools import GpuNode
    from runner.workspace import WorkspaceManager

    Action = Mapping[str, "str | int | bool"]

REPORT = "rvs.txt"
# RVS 1.3 (ROCm 7.0.2) and newer end with a summary of their actions; older ones have no end mark.
SUMMARY = "| Action Name "

# ROCm does not put itself into PATH, and its tools tell of errors on stderr.
START = (
    'PATH=$PATH:/opt/rocm/bin; command -v "$0" >/dev/null ||'
    ' { echo "$0 is not installed on $(uname -n)" >&2; exit 127; }; exec "$0" "$@" 2>&1'
)


def rocm_tool(node: GpuNode, program: str, *words: str, mounts: str = "") -> list[str]:
    """Return the command line of one process that sees every GPU, its stderr in its stdout."""
    return node.once("sh", "-c", START, program, *words, mounts=mounts)


def run_rvs_actions(
    node: GpuNode,
    workspace_manager: WorkspaceManager,
    actions: Sequence[Action],
    *,
    timeout_s: float,
) -> None:
    """Leave rvs.conf and rvs.txt. Raises CannotRun without a report that has its end."""
    conf = workspace_manager.write_file("rvs.conf", rvs_conf(actions))
    run_rvs(node, workspace_manager, "-c", str(conf), mounts=conf.parent, timeout_s=timeout_s)


def run_rvs(
    node: GpuNode,
    workspace_manager: WorkspaceManager,
    *words: str,
    timeout_s: float,
    mounts: Path | None = None,
) -> None:
    """Leave rvs.txt. Raises CannotRun without a report that has its end."""
    run_tool(
        workspace_manager,
        rocm_tool(node, "rvs", *words, mounts=str(mounts or "")),
        report=workspace_manager.get_custom_artifact_path(REPORT),
        end_marks=(SUMMARY,),
        timeout_s=timeout_s,
    )


def rvs_conf(actions: Sequence[Action]) -> str:
    """Return the actions in the form that `rvs -c` reads, each of them on every GPU."""
    return "actions:\n" + "".join(map(_written, actions))


def _written(action: Action) -> str:
    pairs = {**action, "device": "all"}
    lines = [f"{name}: {_word(value)}\n" for name, value in pairs.items()]
    return "- " + "  ".join(lines)


def _word(value: str | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
