"""torchrun on stand-ins for srun: what is asked of it per class, and what it left."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from runner.contract.slugs import Slugs
from runner.executors import distributed_training
from runner.executors.distributed_training import DistributedTraining
from runner.tests.executors.gpu_node import CONTAINED, EIGHT, NODES, Ran, node_of, run_here
from runner.tests.given import REPOSITORY, context_told, write_tool
from runner.workers import torch_training
from runner.workers.torch_network import seed_of_share

SCONTROL = """echo "NodeName=n1 NodeAddr=10.0.0.1 State=IDLE"
echo "NodeName=n2 NodeAddr=10.0.0.2 State=IDLE" """
REPORTS = 'for word; do case $word in report=*) echo "{}" > "${word#report=}";; esac; done'
TIMED_OUT = (
    f"cat {REPOSITORY}/fixtures/corpus/training/torchrun_nccl_watchdog_timeout.txt >&2; exit 1"
)


def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, srun: str, node: dict[str, str] | None = None
) -> Ran:
    write_tool(tmp_path / "bin", "scontrol", SCONTROL)
    write_tool(tmp_path / "bin", "srun", srun)
    monkeypatch.setenv("SLURM_JOB_ID", "101")
    told = context_told(slug=Slugs.DISTRIBUTED_TRAINING, num_nodes=2, params={"duration_s": 7})
    return run_here(DistributedTraining, tmp_path, monkeypatch, told, node or EIGHT)


@pytest.mark.parametrize("resource_class", NODES)
def test_every_class_trains_on_each_of_its_gpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, resource_class: str
) -> None:
    ran = run(tmp_path, monkeypatch, REPORTS, node_of(resource_class))

    report = tmp_path / "attempt/results/training.json"
    assert ran.refusal == ""
    assert " ".join(ran.argv) == (
        "srun --nodes=2 --ntasks=2 --ntasks-per-node=1 --kill-on-bad-exit=1 --cpu-bind=none"
        f" torchrun --nnodes=2 --nproc-per-node={NODES[resource_class]} --rdzv-backend=c10d"
        " --rdzv-endpoint=10.0.0.1:29500 --rdzv-id=101 -m runner work torch-training"
        f" duration_s=7 report={report}"
    )


def test_a_container_of_the_site_sees_program_and_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.program.bundle", lambda: tmp_path / "bundles/runner.pyz")

    ran = run(tmp_path, monkeypatch, REPORTS, CONTAINED)

    image = CONTAINED["BURN_IN_CONTAINER"]
    asked = " ".join(ran.argv)
    assert f" --container-image={image} --no-container-mount-home" in asked
    assert f" --container-mounts={tmp_path}:{tmp_path} torchrun " in asked
    assert f" {tmp_path}/bundles/runner.pyz work torch-training " in asked


def test_a_failure_that_torchrun_explains_is_left_to_the_hub(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = run(tmp_path, monkeypatch, TIMED_OUT)

    assert ran.refusal == ""
    assert "Root Cause (first observed failure):" in ran.text("training-log.txt")


def test_without_torchrun_it_could_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = run(tmp_path, monkeypatch, "echo 'execve(): torchrun: No such file' >&2; exit 2")

    assert ran.refusal == ("the training left no report (exit 2): execve(): torchrun: No such file")


def test_one_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed_training, "SETTLE_S", -6.9)

    ran = run(tmp_path, monkeypatch, "exec sleep 60")

    assert ran.refusal == "the training hung and was ended after 0 s"


def test_a_job_without_gpus_could_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = run(tmp_path, monkeypatch, REPORTS, {"SLURM_GPUS_ON_NODE": "0"})

    assert ran.refusal.startswith("Slurm gave this job no GPUs")


def test_a_rank_without_a_gpu_says_what_pytorch_sees(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    torch: Any = ModuleType("torch")
    torch.__version__, torch.cuda = "2.7.0", SimpleNamespace(device_count=lambda: 4)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setenv("LOCAL_RANK", "4")

    assert torch_training.main(["duration_s=1", "report=/nowhere"]) == torch_training.NO_GPU
    assert "PyTorch 2.7.0 sees 4 GPUs, there is none for rank 4" in capsys.readouterr().err


def test_a_thousand_gpus_have_no_more_data_to_learn_than_eight() -> None:
    assert {seed_of_share(rank) for rank in range(8000)} == {seed_of_share(n) for n in range(8)}
    assert len({seed_of_share(rank) for rank in range(8)}) == 8
