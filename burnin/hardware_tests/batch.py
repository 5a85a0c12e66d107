"""What Slurm is asked for, before it becomes a script."""

from __future__ import annotations

from dataclasses import dataclass

from burnin.hardware_tests.run_context import RunContext

SIGNAL_S = 60
SHORTEST_SIGNALLED_MINUTES = 60
PAIR = 2


class BadBatchConfig(ValueError):
    """The test asks Slurm for something it cannot ask for: a defect in its definition."""


@dataclass(frozen=True)
class SlurmBatchConfig:
    """One plain job. Arrays and heterogeneous jobs have no place here: identity stays simple.

    `memory` "0" is all of the node's: --exclusive alone gives the CPUs but not the memory.
    """

    job_name: str
    comment: str
    partition: str
    num_nodes: int
    time_limit_minutes: int
    deadline_minutes: int
    nodelist: tuple[str, ...] | None = None
    ntasks_per_node: int = 1
    gpus_per_node: int = 0
    memory: str = "0"

    def __post_init__(self) -> None:
        if self.nodelist is not None and len(self.nodelist) != self.num_nodes:
            # Slurm reads --nodelist as "these at least" and would add nodes of its own choice.
            raise BadBatchConfig(
                f"{len(self.nodelist)} nodes are named but {self.num_nodes} asked for"
            )
        if self.gpus_per_node < 0 or self.ntasks_per_node < 1:
            raise BadBatchConfig("a job needs gpus_per_node >= 0 and ntasks_per_node >= 1")

    @property
    def signal_seconds(self) -> int:
        """Return how long before the limit Slurm signals the runner; 0: not before it.

        Slurm may signal up to a minute early. The runner ends by itself well before that, so in a
        short job the signal would only cut off a healthy run.
        """
        return SIGNAL_S if self.time_limit_minutes >= SHORTEST_SIGNALLED_MINUTES else 0


def make_single_node_slurm_batch_config(
    context: RunContext, *, gpus_per_node: int
) -> SlurmBatchConfig:
    """Return one whole node. Raises BadBatchConfig if the context holds more than one."""
    if context.num_nodes != 1:
        raise BadBatchConfig(
            f"a single-node test runs on one node a job, not on {context.num_nodes}"
        )
    return _config(context, gpus_per_node=gpus_per_node, ntasks_per_node=1)


def make_multi_node_slurm_batch_config(
    context: RunContext, *, gpus_per_node: int, ntasks_per_node: int = 1
) -> SlurmBatchConfig:
    """Return every node of the context as one allocation. Raises BadBatchConfig below two."""
    if context.num_nodes < 2:
        raise BadBatchConfig("a multi-node test needs at least two nodes")
    return _config(context, gpus_per_node=gpus_per_node, ntasks_per_node=ntasks_per_node)


def make_pairwise_slurm_batch_config(
    context: RunContext, *, gpus_per_node: int
) -> SlurmBatchConfig:
    """Return one pair of nodes. Raises BadBatchConfig for any other number."""
    if context.num_nodes != PAIR:
        raise BadBatchConfig(
            f"a pairwise test runs on {PAIR} nodes, and {context.num_nodes} are asked for: "
            "all pairs of a group cannot be run yet"
        )
    return _config(context, gpus_per_node=gpus_per_node, ntasks_per_node=1)


def _config(context: RunContext, *, gpus_per_node: int, ntasks_per_node: int) -> SlurmBatchConfig:
    return SlurmBatchConfig(
        job_name=context.token.job_name,
        comment=context.token.comment,
        partition=context.partition,
        num_nodes=context.num_nodes,
        nodelist=context.nodelist,
        ntasks_per_node=ntasks_per_node,
        gpus_per_node=gpus_per_node,
        time_limit_minutes=context.timeout_minutes,
        deadline_minutes=context.deadline_minutes,
    )
