"""nccl-tests, or rccl-tests on AMD, whose programs are called the same: a rank on each GPU."""

from __future__ import annotations

from runner.endings import CannotRun
from runner.gpu_tools import GpuNode
from runner.multi_node import why_no_report

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from runner.contract.wire import ExecutionContext
    from runner.process import CommandResult
    from runner.workspace import WorkspaceManager

REPORT = "nccl-tests.txt"
END_MARK = b"# Avg bus bandwidth"

# Every size from one that shows the latency to one that shows the bandwidth, each value checked.
RECIPE = ("-b", "8", "-f", "2", "-g", "1", "-t", "1", "-n", "20", "-w", "5", "-c", "1")
LARGEST = "16G"
# Three buffers of 16 GiB are more than an L40S has: the tool would choose a size of its own.
LARGEST_BY_CLASS = {"l40s-8x": "8G"}

# What the network of a site needs stands in /etc/nccl.conf of its nodes or of its image.
ENVIRONMENT = {
    "NCCL_DEBUG": "WARN",  # says the version of the library too
    "CUDA_DEVICE_ORDER": "PCI_BUS_ID",
    "OMPI_MCA_coll_hcoll_enable": "0",
    "PMIX_MCA_gds": "^ds12",  # an image's PMIx may not share memory with Slurm's
}

# Images keep the programs outside of PATH, and some have one without MPI beside one with it.
# The first rank says for all which network NCCL took, and whether NVLink Sharp is in it.
FIND = (
    '[ "${SLURM_PROCID:-0}" != 0 ] || export NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT; '
    "PATH=$PATH:/opt/nccl-tests/build:/opt/nccl_tests/build:/opt/rccl-tests/build;"
    ' found=$(command -v "$0_mpi" || command -v "$0") && exec "$found" "$@";'
    ' echo "$0 is not installed on $(uname -n): looked in $PATH" >&2; exit 127'
)


def run_nccl_tests(
    context: ExecutionContext,
    workspace_manager: WorkspaceManager,
    program: str,
    *,
    timeout_s: float | None,
    env: Mapping[str, str],
) -> None:
    """Leave the program's output. Raises CannotRun if it did not get to its end."""
    node = GpuNode()
    node.write(workspace_manager)
    report = workspace_manager.get_custom_artifact_path(REPORT)
    done = workspace_manager.run_command(
        node.on_each_gpu(*nccl_tests(program, node.resource_class), num_nodes=context.num_nodes),
        timeout_s=timeout_s,
        env={**ENVIRONMENT, **env},
        capture_to=report,
    )
    if END_MARK not in report.read_bytes():
        done.refuse_hang(program)
        raise CannotRun(_why_no_end(done, program))


def nccl_tests(program: str, resource_class: str) -> list[str]:
    """Return the command line of one rank."""
    largest = LARGEST_BY_CLASS.get(resource_class, LARGEST)
    return ["sh", "-c", FIND, program, *RECIPE, "-e", largest]


def _why_no_end(done: CommandResult, program: str) -> str:
    """Prefer what a rank itself calls its failure, which goes to stdout."""
    failures = [line for line in done.stdout_tail.splitlines() if "failure" in line]
    if failures:
        return f"{program} failed (exit {done.exit_code}): {failures[0].strip()[:300]}"
    return why_no_report(done, program)
