"""How GPU tools are started: from PATH, or in the site's container."""

from __future__ import annotations

import pytest

from runner.endings import CannotRun
from runner.gpu_tools import GpuNode
from runner.tests.executors.gpu_node import CONTAINED, EIGHT, IN_IMAGE, ONE_TASK


def test_without_a_container_a_tool_is_started_as_it_is() -> None:
    assert GpuNode(EIGHT).once("tool", "-x") == ["tool", "-x"]


def test_in_a_container_it_is_one_task_of_srun() -> None:
    assert GpuNode(CONTAINED).once("tool", "-x") == [*ONE_TASK, *IN_IMAGE, "tool", "-x"]


def test_what_it_writes_must_be_mounted() -> None:
    started = GpuNode(CONTAINED).once("tool", mounts="/shared/a")

    assert started == [*ONE_TASK, *IN_IMAGE, "--container-mounts=/shared/a:/shared/a", "tool"]


@pytest.mark.parametrize(
    ("environment", "said"),
    [({}, "not set"), ({"SLURM_GPUS_ON_NODE": "0"}, "0"), ({"SLURM_GPUS_ON_NODE": "all"}, "all")],
)
def test_a_job_without_gpus_cannot_run(environment: dict[str, str], said: str) -> None:
    with pytest.raises(CannotRun) as refused:
        GpuNode(environment)

    assert str(refused.value) == (
        f"Slurm gave this job no GPUs (SLURM_GPUS_ON_NODE is {said}): "
        "let slurm.conf and gres.conf name the node's GPUs"
    )


def test_a_rank_on_each_gpu_of_several_nodes_is_so_many_tasks() -> None:
    node = GpuNode({"SLURM_GPUS_ON_NODE": "4"})

    assert node.on_each_gpu("tool", num_nodes=3) == [
        *("srun", "--nodes=3", "--ntasks=12", "--ntasks-per-node=4", "--kill-on-bad-exit=1"),
        *("--cpu-bind=none", "--mpi=pmix", "tool"),
    ]
