"""HPL and HPL-MxP on every GPU of the node, one rank a GPU, from NVIDIA's or AMD's container."""

from __future__ import annotations

import json

from runner.base import BaseRunner
from runner.contract.slugs import Slugs
from runner.gpu_memory import memory_of_amd_gpus, memory_of_nvidia_gpus
from runner.gpu_tools import GpuNode, nvidia_script, run_tool
from runner.hpl_problem import even_step, hpl_dat, largest_problem, mxp_dat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.contract.wire import ExecutionContext
    from runner.hpl_problem import HplProblem
    from runner.workspace import WorkspaceManager

NVIDIA_BLOCK, AMD_BLOCK, AMD_MXP_BLOCK = 1024, 512, 2560
# Of eight H100 these make what NVIDIA's own HPL-dgx-1N.dat has: N = 264192, and 274432.
HPL_SHARE, MXP_SHARE = 0.82, 0.442
MXP_BYTES, MXP_FP16 = 4, "2"
AMD_MXP_SHARE = 0.82  # AMD's own runs of an MI210 fill 92 %
SLOWEST_FLOP_S = 0.5e12  # of a GPU: half of what an L40S does, which has few FP64 units
SETTLE_S = 900


class HplGpu(BaseRunner):
    slug = Slugs.HPL_GPU
    reads = frozenset()

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        node = GpuNode()
        node.write(workspace_manager)
        recipe = _rochpl if node.has_amd_gpus else _hpl_of_nvidia
        problem, argv = recipe(node, workspace_manager)
        _note(workspace_manager, problem)
        run_tool(
            workspace_manager,
            argv,
            report=workspace_manager.get_custom_artifact_path("hpl.txt"),
            end_marks=("\nEnd of Tests.",),
            timeout_s=problem.flop / problem.ranks / SLOWEST_FLOP_S + SETTLE_S,
        )


class HplMxp(BaseRunner):
    slug = Slugs.HPL_MXP
    reads = frozenset()

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        node = GpuNode()
        node.write(workspace_manager)
        recipe = _rochpl_mxp if node.has_amd_gpus else _mxp_of_nvidia
        problem, argv = recipe(node, workspace_manager)
        _note(workspace_manager, problem)
        run_tool(
            workspace_manager,
            argv,
            report=workspace_manager.get_custom_artifact_path("hpl-mxp.txt"),
            end_marks=("LU GFLOPS =", "\nEnd of Tests."),
            timeout_s=problem.flop / problem.ranks / SLOWEST_FLOP_S + SETTLE_S,
        )


def _hpl_of_nvidia(
    node: GpuNode, workspace_manager: WorkspaceManager
) -> tuple[HplProblem, list[str]]:
    memory = memory_of_nvidia_gpus(workspace_manager, node.gpu_count) * HPL_SHARE
    problem = largest_problem(memory, node.gpu_count, nb=NVIDIA_BLOCK).upright()
    dat = workspace_manager.write_file("HPL.dat", hpl_dat(problem))
    words = (nvidia_script(node, "hpl.sh"), "--dat", str(dat), "--no-multinode")
    return problem, node.on_each_gpu(*words, mounts=str(dat.parent))


def _rochpl(node: GpuNode, workspace_manager: WorkspaceManager) -> tuple[HplProblem, list[str]]:
    memory = memory_of_amd_gpus(workspace_manager, node.gpu_count) * HPL_SHARE
    problem = largest_problem(memory, node.gpu_count, nb=AMD_BLOCK).upright()
    sizes = {"-P": problem.p, "-Q": problem.q, "-N": problem.n, "--NB": problem.nb}
    words = [word for name, size in sizes.items() for word in (name, str(size))]
    return problem, node.on_each_gpu("run_rochpl", *words)


def _mxp_of_nvidia(
    node: GpuNode, workspace_manager: WorkspaceManager
) -> tuple[HplProblem, list[str]]:
    memory = memory_of_nvidia_gpus(workspace_manager, node.gpu_count) * MXP_SHARE
    problem = largest_problem(
        memory, node.gpu_count, nb=NVIDIA_BLOCK, bytes_each=MXP_BYTES
    ).upright()
    return problem, node.on_each_gpu(nvidia_script(node, "hpl-mxp.sh"), *mxp_options(problem))


def _rochpl_mxp(node: GpuNode, workspace_manager: WorkspaceManager) -> tuple[HplProblem, list[str]]:
    """Let it read a file: asked on the command line it writes into one, and not to stdout.

    Of an uneven size it would make a larger one.
    """
    ranks, nb = node.gpu_count, AMD_MXP_BLOCK
    memory = memory_of_amd_gpus(workspace_manager, ranks) * AMD_MXP_SHARE
    problem = largest_problem(
        memory, ranks, nb=nb, bytes_each=MXP_BYTES, step=even_step(nb, ranks)
    ).upright()
    dat = workspace_manager.write_file("mxp.dat", mxp_dat(problem))
    words = ("-P", str(problem.p), "-Q", str(problem.q), "-i", str(dat))
    return problem, node.on_each_gpu("run_rochplmxp", *words, mounts=str(dat.parent))


def mxp_options(problem: HplProblem) -> list[str]:
    affinity = ":".join(map(str, range(problem.ranks)))
    return (
        f"--n {problem.n} --nb {problem.nb} --nprow {problem.p} --npcol {problem.q}"
        f" --nporder row --gpu-affinity {affinity} --sloppy-type {MXP_FP16}"
    ).split()


def _note(workspace_manager: WorkspaceManager, problem: HplProblem) -> None:
    """Leave hpl-problem.json, by which the hub knows what must have been solved."""
    workspace_manager.write_file("hpl-problem.json", json.dumps(problem.as_json()))
