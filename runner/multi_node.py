"""Steps over the nodes of a job: one task a node, ended together if one of them ends badly."""

from __future__ import annotations

from runner.program import this_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.contract.wire import ExecutionContext
    from runner.process import CommandResult


def srun(context: ExecutionContext, *options: str) -> list[str]:
    """Return how one task is started on each node of the job."""
    count = context.num_nodes
    everywhere = [f"--nodes={count}", f"--ntasks={count}", "--ntasks-per-node=1"]
    return ["srun", *everywhere, "--kill-on-bad-exit=1", *options]


def workers(context: ExecutionContext, name: str, *arguments: str) -> list[str]:
    """Return how the worker `name` of this bundle is started, once on each node."""
    return [*srun(context), *this_program(), "work", name, *arguments]


def mpi_workers(context: ExecutionContext, name: str, *arguments: str) -> list[str]:
    """Return how the worker `name` is started as one MPI rank a node."""
    # PMI2 is what Slurm and MPICH both bring along; PMIx would have to be built into both.
    return [*srun(context, "--mpi=pmi2"), *this_program(), "work", name, *arguments]


def why_no_report(done: CommandResult, what: str) -> str:
    """Say why a step left no report: by what its tasks said rather than by Slurm's echo of it."""
    lines = [line for line in done.stderr_tail.splitlines() if line.strip()]
    echoes = ("srun:", "CANCELLED AT")
    own = [line for line in lines if not any(echo in line for echo in echoes)]
    said = (own[:1] or lines[-1:] or ["it said nothing"])[0]
    return f"{what} left no report (exit {done.exit_code}): {said[:300]}"
