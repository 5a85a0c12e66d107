"""How a tool that needs the node's GPUs is started: from a container of the site, or from PATH."""

from __future__ import annotations

import json
import os

from runner.endings import CannotRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from runner.workspace import WorkspaceManager

CONTAINER = "BURN_IN_CONTAINER"
RESOURCE_CLASS = "BURN_IN_RESOURCE_CLASS"
GPUS_ON_NODE = "SLURM_GPUS_ON_NODE"
GPU_MAKER = "BURN_IN_GPU_MAKER"
NVIDIAS = "/workspace/"  # where NVIDIA's hpc-benchmarks has its scripts, outside PATH


class GpuNode:
    """What the batch script and Slurm say of this node's GPUs."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        self.resource_class = environment.get(RESOURCE_CLASS, "")
        self.gpu_maker = environment.get(GPU_MAKER, "")
        self.container = environment.get(CONTAINER, "")
        given = environment.get(GPUS_ON_NODE, "")
        if not given.isdecimal() or given == "0":
            raise CannotRun(
                f"Slurm gave this job no GPUs ({GPUS_ON_NODE} is"
                f" {given or 'not set'}): let slurm.conf and gres.conf name the node's GPUs"
            )
        self.gpu_count = int(given)

    @property
    def has_amd_gpus(self) -> bool:
        return self.gpu_maker == "AMD"

    def write(self, workspace_manager: WorkspaceManager) -> None:
        """Leave gpu-node.json, by which the hub knows how many GPUs must have been tested."""
        names = ("gpu_count", "resource_class", "gpu_maker", "container")
        said = {name: getattr(self, name) for name in names}
        workspace_manager.write_file("gpu-node.json", json.dumps(said))

    def once(self, *argv: str, mounts: str = "") -> list[str]:
        """Return the command line of one process that sees every GPU."""
        return [*self._srun(1, mounts), *argv] if self.container else list(argv)

    def on_each_gpu(self, *argv: str, mounts: str = "", num_nodes: int = 1) -> list[str]:
        """Return the command line of one MPI rank for each GPU, of as many nodes as this one."""
        ranks = self._srun(self.gpu_count, mounts, num_nodes=num_nodes)
        return [*ranks, "--cpu-bind=none", "--mpi=pmix", *argv]

    def image(self, mounts: str) -> list[str]:
        """Return what tells srun to start its tasks in the site's container."""
        if not self.container:
            return []
        mounted = [f"--container-mounts={mounts}:{mounts}"] if mounts else []
        return [f"--container-image={self.container}", "--no-container-mount-home", *mounted]

    def _srun(self, count: int, mounts: str, *, num_nodes: int = 1) -> list[str]:
        tasks = [f"--ntasks={num_nodes * count}", f"--ntasks-per-node={count}"]
        where = ["srun", f"--nodes={num_nodes}", *tasks]
        return [*where, "--kill-on-bad-exit=1", *self.image(mounts)]


def nvidia_script(node: GpuNode, name: str) -> str:
    """Return the word that starts a script of NVIDIA's hpc-benchmarks."""
    return NVIDIAS + name if node.container else name


def run_tool(
    workspace_manager: WorkspaceManager,
    argv: Sequence[str],
    *,
    report: Path,
    end_marks: tuple[str, ...],
    timeout_s: float,
    env: Mapping[str, str] | None = None,
) -> None:
    """Run to `report`, which shall hold one of `end_marks` in the end, whatever the exit code was.

    Raises CannotRun if it does not.
    """
    done = workspace_manager.run_command(argv, timeout_s=timeout_s, env=env, capture_to=report)
    said = report.read_bytes()
    if any(mark.encode() in said for mark in end_marks):
        return
    tool = report.stem
    done.refuse_hang(tool)
    raise CannotRun(f"{tool} left no result (exit {done.exit_code}): {done.last_words}")
