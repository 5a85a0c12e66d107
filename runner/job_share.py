"""What Slurm gave the job of this node: nodes may share a machine's memory and CPUs."""

from __future__ import annotations

import os
import re
from pathlib import Path

from runner.endings import CannotRun
from runner.facts import memory_bytes, read_line

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.workspace import WorkspaceManager

MIB = 1 << 20
CPUS = Path("/sys/devices/system/cpu")
UNITS = {"K": 1 << 10, "M": MIB, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}
_JOB_MEMORY = re.compile(r"(?:^|\s)(?:Alloc)?TRES=\S*?\bmem=(\d+(?:\.\d+)?)([KMGTP])")
_JOB_NODES = re.compile(r"(?:^|\s)NumNodes=(\d+)")


def job_bytes(workspace_manager: WorkspaceManager) -> int:
    """Return the job's memory on this node. Raises CannotRun where Slurm names no size."""
    size_bytes = memory_from_environment(os.environ)
    job_id = os.environ.get("SLURM_JOB_ID", "")
    if size_bytes is None and job_id:
        shown = workspace_manager.get_custom_artifact_path("slurm-job.txt")
        workspace_manager.run_command(
            ["scontrol", "show", "job", "-o", job_id], timeout_s=60, capture_to=shown
        )
        size_bytes = memory_from_scontrol(shown.read_text(encoding="utf-8"))
    if size_bytes is None:
        raise CannotRun(
            "Slurm names no memory size for this job; let the partition's nodes have RealMemory"
            " and select memory (SelectTypeParameters=CR_Core_Memory or CR_CPU_Memory)"
        )
    return size_bytes


def memory_from_environment(environment: Mapping[str, str]) -> int | None:
    """Return the job's memory on this node in bytes; None where Slurm says 0 or nothing."""
    per_node = _number(environment.get("SLURM_MEM_PER_NODE"))
    per_cpu = _number(environment.get("SLURM_MEM_PER_CPU"))
    cpus = _number(environment.get("SLURM_CPUS_ON_NODE"))
    return (per_node or per_cpu * cpus) * MIB or None


def memory_from_scontrol(text: str) -> int | None:
    """Return the memory of one node in bytes, from `scontrol show job -o`."""
    memory, nodes = _JOB_MEMORY.search(text), _JOB_NODES.search(text)
    if memory is None or nodes is None or nodes[1] == "0":
        return None
    return int(float(memory[1]) * UNITS[memory[2]]) // int(nodes[1]) or None


def refuse_what_does_not_fit(size_bytes: int, node_name: str, *, share: float) -> None:
    """Raise CannotRun if that share of the job's memory is nothing, or is not free."""
    available = memory_bytes(Path("/"), "MemAvailable")
    if available is None:
        raise CannotRun(f"/proc/meminfo of {node_name} does not say how much memory is available")
    if size_bytes > available:
        raise CannotRun(
            f"{node_name} has {available // MIB} MiB of free memory, {size_bytes // MIB} MiB are"
            f" needed ({share:.0%} of the job's); something else uses its memory"
        )
    if size_bytes < MIB:
        raise CannotRun(f"the job has no memory to test on {node_name}")


def job_cpus() -> int:
    """Return how many CPUs Slurm gave the job here; all that we may use if it does not say."""
    return _number(os.environ.get("SLURM_CPUS_ON_NODE")) or len(os.sched_getaffinity(0))


def job_cores(cpus: Path = CPUS) -> int:
    """Return how many cores the job may use: two hardware threads of one core are one."""
    allowed = os.sched_getaffinity(0)
    siblings = (cpus / f"cpu{cpu}/topology/thread_siblings_list" for cpu in allowed)
    cores = {read_line(path) or str(path) for path in siblings}
    return min(len(cores), job_cpus())


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() else 0
