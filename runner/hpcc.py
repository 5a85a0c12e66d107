"""HPC Challenge, one MPI rank a core: HPL, DGEMM and STREAM of this node in one run."""

from __future__ import annotations

import json
import os

from runner.blas import blas_of
from runner.endings import CannotRun
from runner.facts import read_line
from runner.hpl_problem import hpl_dat
from runner.job_share import CPUS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from runner.hpl_problem import HplProblem
    from runner.workspace import WorkspaceManager

INPUT, REPORT, NODE = "hpccinf.txt", "hpccoutf.txt", "hpcc-node.json"  # the first two are hpcc's
END = b"\nEnd of HPC Challenge tests.\n"
SLOWEST_FLOP_S = 1e9  # of a rank: Debian's reference BLAS does about that
SETTLE_S = 1800
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
# Without Slurm's launcher, which would start a daemon for a node that we are on already, and
# without networks: whatever card the node has, its memory carries what ranks tell each other.
ON_THIS_NODE = "--allow-run-as-root --mca plm isolated --mca ras ^slurm --mca pml ob1"
OVER_MEMORY = "--mca btl self,vader --mca mpi_yield_when_idle 1 --map-by core --bind-to core"


def run_hpcc(workspace_manager: WorkspaceManager, problem: HplProblem) -> None:
    """Leave hpccoutf.txt and hpcc-node.json. Raises CannotRun without a report that has its end."""
    _write_node(workspace_manager, problem)
    report = workspace_manager.get_custom_artifact_path(REPORT)
    report.unlink(missing_ok=True)  # hpcc would append to it
    workspace_manager.write_file(INPUT, hpl_dat(problem))
    done = workspace_manager.run_command(
        mpirun(problem.ranks, "hpcc"),
        timeout_s=problem.flop / problem.ranks / SLOWEST_FLOP_S + SETTLE_S,
        env=ONE_THREAD,
        cwd=report.parent,
    )
    if report.exists() and END in report.read_bytes():
        return
    done.refuse_hang("hpcc")
    raise CannotRun(f"hpcc did not get to its end (exit {done.exit_code}): {done.last_words}")


def _write_node(workspace_manager: WorkspaceManager, problem: HplProblem) -> None:
    """Leave what the result depends on beside the CPU: BLAS, governor, who else was at work."""
    node = {
        **problem.as_json(),
        "blas": blas_of(workspace_manager, "hpcc"),
        "governors": governors(),
        "load": round(os.getloadavg()[0], 2),
    }
    workspace_manager.write_file(NODE, json.dumps(node))


def mpirun(ranks: int, *argv: str) -> list[str]:
    """Return how Open MPI starts one rank on each of so many cores of this node."""
    return ["mpirun", *ON_THIS_NODE.split(), *OVER_MEMORY.split(), "-np", str(ranks), *argv]


def governors(cpus: Path = CPUS) -> list[str]:
    """Return which frequency governors the CPUs have; none where the kernel has none."""
    found = (read_line(path) for path in cpus.glob("cpu*/cpufreq/scaling_governor"))
    return sorted({name for name in found if name})
