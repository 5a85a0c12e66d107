"""nvbandwidth or AMD's tools where Slurm gave GPUs, as the hub asks for by class; else STREAM."""

from __future__ import annotations

import json
import math
import os

from runner.base import BaseRunner
from runner.caches import last_level_cache_bytes
from runner.contract.slugs import Slugs
from runner.endings import CannotRun
from runner.facts import root_of
from runner.gpu_tools import GPUS_ON_NODE, GpuNode, run_tool
from runner.hpcc import run_hpcc
from runner.hpl_problem import HplProblem
from runner.job_share import MIB, job_bytes, job_cores, refuse_what_does_not_fit
from runner.rocm import rocm_tool, run_rvs_actions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.contract.wire import ExecutionContext
    from runner.rocm import Action
    from runner.workspace import WorkspaceManager

CASES = (
    "device_local_copy",
    "host_to_device_memcpy_ce",
    "device_to_host_memcpy_ce",
    "device_to_device_memcpy_read_ce",
)
SAMPLES = 10
LONGEST_S = 1800  # 56 pairs of GPUs take minutes
END_MARKS = ('"nvbandwidth"', "Invalid value when checking the pattern")

# BabelStream as AMD's acceptance has it: 50 times over 268435456 doubles. An older RVS knows
# `subtest`, a newer one the kernels by name; one GPU after another, for their tables interleave.
AMD_OWN: Action = {
    "name": "own-memory",
    "module": "babel",
    "parallel": False,
    "count": 1,
    "num_iter": 50,
    "array_size": 268435456,
    "test_type": 2,
    "mibibytes": False,
    "o/p_csv": False,
    "subtest": 5,
    "copy": True,
    "mul": True,
    "add": True,
    "triad": True,
    "dot": True,
}
# Of every way: is what arrives right, and then how fast is it?
AMD_WAYS = {
    "rocm-bandwidth-check.txt": ("-v", "Data Path Validation"),
    "rocm-bandwidth-test.txt": ("-a", "Unidirectional copy peak bandwidth"),
}

SHARE = 0.8
# STREAM asks that each of its three arrays be four times the caches. Where memory is too small for
# that, the three together are: a pass goes through all of them, and none is left in the cache.
ARRAYS_OF_CACHES = (12, 4)
BLOCK = 192


class MemoryBandwidth(BaseRunner):
    slug = Slugs.MEMORY_BANDWIDTH
    reads = frozenset()
    tools = (("mpirun", "--version"),)

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        if os.environ.get(GPUS_ON_NODE):
            node = GpuNode()
            node.write(workspace_manager)
            measure = _measure_amd_gpus if node.has_amd_gpus else _measure_nvidia_gpus
            measure(node, workspace_manager)
        else:
            _measure_host(context, workspace_manager)


def _measure_amd_gpus(node: GpuNode, workspace_manager: WorkspaceManager) -> None:
    for report, (option, title) in AMD_WAYS.items():
        run_tool(
            workspace_manager,
            rocm_tool(node, "rocm-bandwidth-test", option),
            report=workspace_manager.get_custom_artifact_path(report),
            end_marks=(title,),
            timeout_s=LONGEST_S,
        )
    run_rvs_actions(node, workspace_manager, [AMD_OWN], timeout_s=LONGEST_S)


def _measure_nvidia_gpus(node: GpuNode, workspace_manager: WorkspaceManager) -> None:
    run_tool(
        workspace_manager,
        node.once("nvbandwidth", "-t", *CASES, "-i", str(SAMPLES), "-j"),
        report=workspace_manager.get_custom_artifact_path("nvbandwidth.txt"),
        end_marks=END_MARKS,
        timeout_s=LONGEST_S,
    )


def _measure_host(context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
    node_name = workspace_manager.node_name
    cache_bytes = last_level_cache_bytes(root_of(context.facts_root, node_name))
    if cache_bytes is None:
        raise CannotRun(
            f"the kernel of {node_name} does not say how large its caches are:"
            " arrays could not be made larger than them"
        )
    problem = stream_problem(
        cache_bytes, most_bytes=int(job_bytes(workspace_manager) * SHARE), ranks=job_cores()
    )
    refuse_what_does_not_fit(8 * problem.n**2 * problem.ranks, node_name, share=SHARE)
    workspace_manager.write_file("memory-node.json", json.dumps({"cache_bytes": cache_bytes}))
    run_hpcc(workspace_manager, problem)


def stream_problem(cache_bytes: int, *, most_bytes: int, ranks: int) -> HplProblem:
    """Return the problem whose matrix hpcc would give each process for its arrays.

    hpcc gives every process what the matrix takes on the smallest grid. On a grid of one that is
    the whole matrix: the arrays are large, and HPL is done in a moment.
    """
    for times in ARRAYS_OF_CACHES:
        blocks = math.ceil(math.sqrt(times * cache_bytes / ranks / 8) / BLOCK)
        problem = HplProblem(n=blocks * BLOCK, nb=BLOCK, p=1, q=1, ranks=ranks)
        if 8 * problem.n**2 * ranks <= most_bytes:
            return problem
    raise CannotRun(
        f"{ARRAYS_OF_CACHES[-1]} times the caches of {cache_bytes // MIB} MiB do not fit into"
        f" {most_bytes // MIB} MiB ({SHARE:.0%} of the job's memory):"
        " STREAM would measure caches; give the job more memory"
    )
