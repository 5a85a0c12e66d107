"""One rank of a data-parallel training on GPUs, started by torchrun; PyTorch is the container's."""

from __future__ import annotations

import json
import os
import sys
from importlib import import_module
from pathlib import Path

from runner.workers.torch_network import TorchNetwork
from runner.workers.training import Training
from runner.workers.words import node_name, split_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

NO_GPU = 5  # exit code of a rank that found none


def main(arguments: Sequence[str]) -> int:
    """Take part; rank 0 writes the report. `duration_s=60 report=PATH`."""
    asked, torch = split_words(arguments), import_module("torch")
    local_rank = int(os.environ["LOCAL_RANK"])
    if local_rank >= torch.cuda.device_count():
        found = f"PyTorch {torch.__version__} sees {torch.cuda.device_count()} GPUs"
        print(f"{node_name()}: {found}, there is none for rank {local_rank}", file=sys.stderr)
        return NO_GPU
    device = torch.device("cuda", local_rank)
    torch.cuda.set_device(device)
    torch.distributed.init_process_group("nccl", device_id=device)
    ranks = TorchRanks(torch)
    train(ranks, TorchNetwork(torch, device, ranks.rank), asked, f"{node_name()}:{local_rank}")
    torch.distributed.destroy_process_group()
    return 0


def train(ranks: TorchRanks, network: TorchNetwork, asked: dict[str, str], place: str) -> None:
    training = Training(ranks, network, place)
    training.run(float(asked["duration_s"]))
    report = {**training.report(), "versions": ranks.versions()}
    if ranks.rank == 0:
        Path(asked["report"]).write_text(json.dumps(report, allow_nan=False), encoding="utf-8")


class TorchRanks:
    """All ranks that torchrun started."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch
        self.rank: int = torch.distributed.get_rank()
        self.size: int = torch.distributed.get_world_size()

    def versions(self) -> dict[str, str]:
        runtime = self._torch.version.hip or self._torch.version.cuda
        return {"torch": self._torch.__version__, "runtime": str(runtime)}

    def barrier(self) -> None:
        self._torch.distributed.barrier()

    def all_reduce(self, given: Any, taken: Any) -> None:
        """Sum over all ranks in place: the gradients are too large to be there twice."""
        assert given is taken
        self._torch.distributed.all_reduce(given)
        synchronize(self._torch, given.device)

    def longest(self, seconds: float) -> float:
        return float(max(self._gathered(seconds)))

    def gather_text(self, text: str) -> list[str]:
        return self._gathered(text)

    def _gathered(self, value: Any) -> list[Any]:
        everyone = [None] * self.size
        self._torch.distributed.all_gather_object(everyone, value)
        return everyone


def synchronize(torch: Any, device: Any) -> None:
    """Wait for the GPU, which works on while we go on."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
