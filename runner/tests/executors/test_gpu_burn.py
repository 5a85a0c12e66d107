"""gpu-burn, which exits 0 on a faulty GPU, and nvidia-smi beside it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from runner.contract.sampling import END_OF_SAMPLES, period_s
from runner.contract.slugs import Slugs
from runner.contract.wire import ExitCode
from runner.executors import gpu_burn
from runner.executors.gpu_burn import BURN, GpuBurn
from runner.tests.executors.gpu_node import (
    CONTAINED,
    EIGHT,
    IN_IMAGE,
    NODES,
    ONE_TASK,
    PRINTED,
    node_of,
    run_here,
)
from runner.tests.given import context_told, metadata_of, run_attempt, write_tool

OK = "printed/gpu_burn_8x_ok.txt"
SAMPLES = "printed/samples_8x_cool.csv"


def told(duration_s: int = 60) -> dict[str, Any]:
    return context_told(slug=Slugs.GPU_BURN, params={"duration_s": duration_s})


def stand_ins(
    directory: Path, *, burner: str = "gpu_burn", then: str = f"cat {PRINTED / OK}"
) -> Path:
    """Write both tools. The burner waits until the sampler has printed its samples."""
    directory.mkdir()
    os.mkfifo(directory / "printed")
    write_tool(
        directory, "nvidia-smi", f"cat {PRINTED / SAMPLES}; echo > {directory}/printed; exec cat"
    )
    write_tool(directory, burner, f"read _ < {directory}/printed; {then}")
    return directory


@pytest.mark.parametrize("resource_class", [name for name in NODES if name != "mi300x-8x"])
def test_every_class_gets_the_same_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, resource_class: str
) -> None:
    stand_ins(tmp_path / "bin")

    ran = run_here(GpuBurn, tmp_path, monkeypatch, told(), node_of(resource_class))

    burnt, sampled = ran.workspace.commands
    assert (burnt.argv, ran.refusal) == (["sh", "-c", BURN, "60"], "")
    assert sampled.argv == [
        "nvidia-smi",
        "--query-gpu=index,temperature.gpu,power.draw,clocks.sm,clocks_throttle_reasons.active",
        "--format=csv",
        "-l",
        "1",
    ]
    assert "Tested 8 GPUs:" in ran.text("gpu-burn.txt")
    assert ran.text("gpu-samples.csv") == (PRINTED / SAMPLES).read_text() + END_OF_SAMPLES


def test_it_burns_where_it_lies_with_both_streams_and_gpus_by_their_bus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    says = 'echo "$PWD $CUDA_DEVICE_ORDER $*"; echo "No clients are alive" >&2; exit 123'
    stand_ins(tmp_path / "bin", then=says)

    ran = run_here(GpuBurn, tmp_path, monkeypatch, told(), EIGHT)

    assert ran.text("gpu-burn.txt") == f"{tmp_path}/bin PCI_BUS_ID -tc 60\nNo clients are alive\n"
    assert ran.refusal == ""


def test_in_a_container_only_the_burner_is_a_task_of_srun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stand_ins(tmp_path / "bin", burner="srun")

    ran = run_here(GpuBurn, tmp_path, monkeypatch, told(), CONTAINED)

    burnt, sampled = ran.workspace.commands
    assert burnt.argv == [*ONE_TASK, *IN_IMAGE, "sh", "-c", BURN, "60"]
    assert sampled.argv[0] == "nvidia-smi"


def test_a_faulty_gpu_is_a_report(tmp_path: Path) -> None:
    faulty = PRINTED / "printed/gpu_burn_8x_gpu3_faulty.txt"
    tools = stand_ins(tmp_path / "bin", then=f"cat {faulty}")

    done = run_attempt(tmp_path / "a", told(), tools=tools, env=EIGHT)

    assert done.returncode == ExitCode.RAN, done.stderr
    assert "GPU 3: FAULTY" in (tmp_path / "a/results/gpu-burn.txt").read_text()


def test_one_that_never_started_could_not_run(tmp_path: Path) -> None:
    tools = stand_ins(tmp_path / "bin", then="echo Error in cuInit: no CUDA-capable device; exit 1")

    done = run_attempt(tmp_path / "a", told(), tools=tools, env=EIGHT)

    assert done.returncode == ExitCode.CANNOT_RUN
    assert metadata_of(tmp_path / "a")["reason"] == (
        "gpu-burn left no result (exit 1): Error in cuInit: no CUDA-capable device"
    )


def test_one_that_hangs_is_ended_and_could_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gpu_burn, "SETTLE_S", -59.8)
    stand_ins(tmp_path / "bin", then="exec sleep 60")

    ran = run_here(GpuBurn, tmp_path, monkeypatch, told(), EIGHT)

    assert ran.refusal.startswith("gpu-burn hung and was ended after ")


@pytest.mark.parametrize(
    ("missing", "said"),
    [
        ("gpu_burn", "gpu-burn left no result (exit 127): gpu_burn is not installed"),
        ("nvidia-smi", "nvidia-smi is not installed on node"),
    ],
)
def test_a_missing_tool_is_named(tmp_path: Path, missing: str, said: str) -> None:
    tools = stand_ins(tmp_path / "bin")
    (tools / missing).unlink()

    done = run_attempt(tmp_path / "a", told(), tools=tools, env=EIGHT)

    assert done.returncode == ExitCode.CANNOT_RUN
    assert metadata_of(tmp_path / "a")["reason"].startswith(said)


@pytest.mark.parametrize(("duration_s", "seconds"), [(60, 1), (21600, 1), (21601, 10)])
def test_a_long_burn_is_sampled_less_often(duration_s: int, seconds: int) -> None:
    assert period_s(duration_s) == seconds
