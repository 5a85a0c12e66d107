"""Data-parallel training on every GPU of the job, by a worker of this bundle under torchrun."""

from __future__ import annotations

import os

from runner.base import BaseRunner
from runner.contract.slugs import Slugs
from runner.endings import CannotRun
from runner.gpu_tools import GpuNode
from runner.multi_node import srun
from runner.places import places_of_nodes
from runner.program import mounted_for, program_for_launcher
from runner.workers.names import TORCH_TRAINING

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

    from runner.contract.wire import ExecutionContext
    from runner.workspace import WorkspaceManager

RENDEZVOUS_PORT = 29500
SETTLE_S = 900  # an image is loaded, and ranks find each other; later they hang
# torchrun and PyTorch say by these which rank failed: the hub reads it.
BLAMES = (b"Root Cause (first observed failure):", b"Watchdog caught collective operation timeout")


class DistributedTraining(BaseRunner):
    slug = Slugs.DISTRIBUTED_TRAINING
    reads = frozenset({"duration_s"})

    def execute(self, context: ExecutionContext, workspace_manager: WorkspaceManager) -> None:
        node = GpuNode()
        node.write(workspace_manager)
        duration_s = int(context.params["duration_s"])
        report = workspace_manager.get_custom_artifact_path("training.json")
        log = workspace_manager.get_custom_artifact_path("training-log.txt")
        head = next(iter(places_of_nodes(workspace_manager, first_port=RENDEZVOUS_PORT).values()))
        done = workspace_manager.run_command(
            [
                *srun(context, "--cpu-bind=none"),
                *node.image(mounted_for(workspace_manager.directory)),
                *torchrun(context.num_nodes, node.gpu_count, head),
                *("work", TORCH_TRAINING, f"duration_s={duration_s}", f"report={report}"),
            ],
            timeout_s=duration_s + SETTLE_S,
            capture_to=log,
        )
        done.refuse_hang("the training")
        with log.open("ab") as file:
            file.write(done.stderr_tail.encode())
        if not report.exists() and not is_blamed(log):
            raise CannotRun(
                f"the training left no report (exit {done.exit_code}): {done.last_words}"
            )


def torchrun(num_nodes: int, gpus_per_node: int, head: str) -> list[str]:
    """Return the launcher's command line, up to this program's own words."""
    where = [f"--nnodes={num_nodes}", f"--nproc-per-node={gpus_per_node}"]
    meet = ["--rdzv-backend=c10d", f"--rdzv-endpoint={head}"]
    job = f"--rdzv-id={os.environ.get('SLURM_JOB_ID', '0')}"
    return ["torchrun", *where, *meet, job, *program_for_launcher()]


def is_blamed(log: Path) -> bool:
    """Say whether the log names who failed: then it was measured that it fails, if not why."""
    text = log.read_bytes()
    return any(words in text for words in BLAMES)
