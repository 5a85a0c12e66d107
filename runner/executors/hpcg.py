"""HPCG: on every GPU of the node from its maker's build, on nodes without GPUs on every core."""

from __future__ import annotations

import json
import os

from runner.base import BaseRunner
from runner.contract.slugs import Slugs
from runner.endings import CannotRun
from runner.gpu_tools import GPUS_ON_NODE, GpuNode, nvidia_script, run_tool
from runner.hpcc import ONE_THREAD, mpirun
from runner.job_share import MIB, job_bytes, job_cores, refuse_what_does_not_fit
from runner.process import find_executable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.contract.wire import ExecutionContext
    from runner.process import CommandResult
    from runner.workspace import WorkspaceManager

REPORT = "hpcg.txt"
RUN_S, SETTLE_S = 60, 900
NVIDIA_EDGE = "256"
AMD_GRID = ("560", "280", "280")  # what rocHPCG's README asks for from 32 GB on

# HPCG's own edge where memory has room for it, of 715 bytes a point; its edges are eights.
CPU_EDGE, SMALLEST_EDGE, BYTES_OF_A_POINT = 104, 16, 800
SHARE = 0.8

# Their report is a file where the first rank was started.
IN_RESULTS = ("sh", "-c", 'cd "$0" && exec "$@"')


class Hpcg(BaseRunner):
    slug = Slugs.HPCG
    reads = frozenset()

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        if not os.environ.get(GPUS_ON_NODE):
            _on_every_core(workspace_manager)
            return
        node = GpuNode()
        node.write(workspace_manager)
        run = _rochpcg if node.has_amd_gpus else _hpcg_of_nvidia
        run(node, workspace_manager)


def _hpcg_of_nvidia(node: GpuNode, workspace_manager: WorkspaceManager) -> None:
    edges = [word for axis in ("--nx", "--ny", "--nz") for word in (axis, NVIDIA_EDGE)]
    run_tool(
        workspace_manager,
        node.on_each_gpu(nvidia_script(node, "hpcg.sh"), *edges, "--rt", str(RUN_S)),
        report=workspace_manager.get_custom_artifact_path(REPORT),
        end_marks=("Final Summary::HPCG result",),
        timeout_s=RUN_S + SETTLE_S,
    )


def _rochpcg(node: GpuNode, workspace_manager: WorkspaceManager) -> None:
    results = str(workspace_manager.get_custom_artifact_path(REPORT).parent)
    program = (*IN_RESULTS, results, "rochpcg", *AMD_GRID, str(RUN_S))
    done = workspace_manager.run_command(
        node.on_each_gpu(*program, mounts=results), timeout_s=RUN_S + SETTLE_S
    )
    _take_report(workspace_manager, done, "rochpcg")


def _on_every_core(workspace_manager: WorkspaceManager) -> None:
    """Run the `xhpcg` that the site put into PATH: no distribution packages one."""
    node_name = workspace_manager.node_name
    find_executable("xhpcg", path=os.environ.get("PATH", os.defpath), node_name=node_name)
    ranks = job_cores()
    edge = edge_of(job_bytes(workspace_manager) * SHARE / ranks)
    refuse_what_does_not_fit(ranks * edge**3 * BYTES_OF_A_POINT, node_name, share=SHARE)
    workspace_manager.write_file("hpcg-node.json", json.dumps({"ranks": ranks, "edge": edge}))
    edges = [f"--{axis}={edge}" for axis in ("nx", "ny", "nz")]
    done = workspace_manager.run_command(
        mpirun(ranks, "xhpcg", *edges, f"--rt={RUN_S}"),
        timeout_s=RUN_S + SETTLE_S,
        env=ONE_THREAD,
        cwd=workspace_manager.get_custom_artifact_path(REPORT).parent,
    )
    _take_report(workspace_manager, done, "xhpcg")


def edge_of(rank_bytes: float) -> int:
    """Return HPCG's own edge, or the largest that fits. Raises CannotRun if none does."""
    largest = int((rank_bytes / BYTES_OF_A_POINT) ** (1 / 3)) // 8 * 8
    if largest < SMALLEST_EDGE:
        raise CannotRun(
            f"HPCG's smallest grid does not fit into the {rank_bytes / MIB:.0f} MiB that each core"
            " may use: give the job more memory"
        )
    return min(largest, CPU_EDGE)


def _take_report(workspace_manager: WorkspaceManager, done: CommandResult, program: str) -> None:
    """Let its one report be hpcg.txt. Raises CannotRun if there is none, or another."""
    target = workspace_manager.get_custom_artifact_path(REPORT)
    found = sorted(target.parent.glob("HPCG-Benchmark*"))
    if not found:
        done.refuse_hang(program)
        raise CannotRun(f"{program} left no report (exit {done.exit_code}): {done.last_words}")
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise CannotRun(f"{program} left several reports: {names}")
    found[0].replace(target)
