"""stressapptest over 90 % of what Slurm gave the job: nodes may share a machine's memory."""

from __future__ import annotations

import os
import re
from pathlib import Path

from runner.base import BaseRunner
from runner.contract.slugs import Slugs
from runner.endings import CannotRun
from runner.facts import memory_bytes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.contract.wire import ExecutionContext
    from runner.workspace import WorkspaceManager

SHARE = 0.9
MIB = 1 << 20
SLOWNESS = 2  # filling and checking terabytes takes about as long again as a short test
SETTLE_S = 120
UNITS = {"K": 1 << 10, "M": MIB, "G": 1 << 30, "T": 1 << 40, "P": 1 << 50}
_JOB_MEMORY = re.compile(r"(?:^|\s)(?:Alloc)?TRES=\S*?\bmem=(\d+(?:\.\d+)?)([KMGTP])")
_JOB_NODES = re.compile(r"(?:^|\s)NumNodes=(\d+)")


class MemoryStress(BaseRunner):
    slug = Slugs.MEMORY_STRESS
    reads = frozenset({"duration_s"})
    tools = (("stressapptest", "--help"),)

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        duration_s = int(context.params["duration_s"])
        share_mib = int(self._job_bytes(workspace_manager) * SHARE) // MIB
        _refuse_what_does_not_fit(share_mib, workspace_manager.node_name)
        report = workspace_manager.get_custom_artifact_path("stressapptest.txt")
        done = workspace_manager.run_command(
            stressapptest(duration_s, share_mib, threads=_job_cpus()),
            timeout_s=duration_s * SLOWNESS + SETTLE_S,
            capture_to=report,
        )
        if b"Status:" not in report.read_bytes():
            raise CannotRun(
                f"stressapptest left no status (exit {done.exit_code}):"
                f" {(done.stderr_tail or done.stdout_tail)[-300:] or 'no output'}"
            )

    def _job_bytes(self, workspace_manager: WorkspaceManager) -> int:
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


def stressapptest(duration_s: int, memory_mib: int, *, threads: int) -> list[str]:
    """Return the fixed recipe's command line."""
    return (
        f"stressapptest -W -s {duration_s} -M {memory_mib} -m {threads} -v 8"  # -W: more CPU heat
    ).split()


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


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() else 0


def _job_cpus() -> int:
    return _number(os.environ.get("SLURM_CPUS_ON_NODE")) or len(os.sched_getaffinity(0))


def _refuse_what_does_not_fit(share_mib: int, node_name: str) -> None:
    available = memory_bytes(Path("/"), "MemAvailable")
    if available is None:
        raise CannotRun(f"/proc/meminfo of {node_name} does not say how much memory is available")
    if share_mib * MIB > available:
        raise CannotRun(
            f"{node_name} has {available // MIB} MiB of free memory, {share_mib} MiB are needed"
            f" ({SHARE:.0%} of the job's); something else uses its memory"
        )
    if share_mib < 1:
        raise CannotRun(f"the job has no memory to test on {node_name}")
