"""nvbandwidth on nodes with GPUs, STREAM on those without: Slurm says which."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runner.contract.slugs import Slugs
from runner.contract.wire import ExitCode
from runner.endings import CannotRun
from runner.executors import memory_bandwidth
from runner.executors.memory_bandwidth import MemoryBandwidth, stream_problem
from runner.tests.executors.gpu_node import (
    CONTAINED,
    EIGHT,
    IN_IMAGE,
    NODES,
    ONE_TASK,
    node_of,
    run_here,
)
from runner.tests.given import context_told, metadata_of, run_attempt, write_tool

MIB = 1 << 20
ON_GPUS = [
    "nvbandwidth",
    "-t",
    "device_local_copy",
    "host_to_device_memcpy_ce",
    "device_to_host_memcpy_ce",
    "device_to_device_memcpy_read_ce",
    "-i",
    "10",
    "-j",
]
REPORT = '{"nvbandwidth": {"version": "v0.8", "testcases": []}}'
WRONG = "Invalid value when checking the pattern at 0x7f00"
HPCC_ENDS = "\nEnd of HPC Challenge tests.\n"


def told(**changes: Any) -> dict[str, Any]:
    return context_told(slug=Slugs.MEMORY_BANDWIDTH, **changes)


def facts(directory: Path, cache: str = "1024K") -> str:
    caches = directory / "facts/sys/devices/system/cpu/cpu0/cache/index3"
    caches.mkdir(parents=True)
    for name, text in (("level", "3"), ("size", cache), ("shared_cpu_list", "0")):
        (caches / name).write_text(text)
    return str(directory / "facts")


@pytest.mark.parametrize("resource_class", [name for name in NODES if name != "mi300x-8x"])
def test_every_class_with_gpus_gets_the_same_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, resource_class: str
) -> None:
    write_tool(tmp_path / "bin", "nvbandwidth", f"echo '{REPORT}'")

    ran = run_here(MemoryBandwidth, tmp_path, monkeypatch, told(), node_of(resource_class))

    assert (ran.argv, ran.refusal) == (ON_GPUS, "")
    assert f'"gpu_count": {NODES[resource_class]}' in ran.text("gpu-node.json")


def test_in_a_container_of_the_site_it_is_a_task_of_srun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tool(tmp_path / "bin", "srun", f"echo '{REPORT}'")

    ran = run_here(MemoryBandwidth, tmp_path, monkeypatch, told(), CONTAINED)

    assert ran.argv == [*ONE_TASK, *IN_IMAGE, *ON_GPUS]


def test_wrong_data_is_a_report_though_nvbandwidth_ends_there(tmp_path: Path) -> None:
    write_tool(tmp_path / "bin", "nvbandwidth", f"echo '{WRONG}'; kill -ABRT $$")

    done = run_attempt(tmp_path / "a", told(), tools=tmp_path / "bin", env=EIGHT)

    assert done.returncode == ExitCode.RAN, done.stderr
    assert WRONG in (tmp_path / "a/results/nvbandwidth.txt").read_text()


def test_without_a_report_of_the_gpus_nothing_was_measured(tmp_path: Path) -> None:
    write_tool(tmp_path / "bin", "nvbandwidth", "echo CUDA_ERROR_NO_DEVICE >&2; exit 1")

    done = run_attempt(tmp_path / "a", told(), tools=tmp_path / "bin", env=EIGHT)

    assert done.returncode == ExitCode.CANNOT_RUN
    assert metadata_of(tmp_path / "a")["reason"] == (
        "nvbandwidth left no result (exit 1): CUDA_ERROR_NO_DEVICE"
    )


def test_one_that_hangs_is_ended_and_could_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_bandwidth, "LONGEST_S", 0.2)
    write_tool(tmp_path / "bin", "nvbandwidth", "exec sleep 60")

    ran = run_here(MemoryBandwidth, tmp_path, monkeypatch, told(), EIGHT)

    assert ran.refusal.startswith("nvbandwidth hung and was ended after ")


@pytest.mark.parametrize(
    ("environment", "tool"), [(EIGHT, "nvbandwidth"), ({"SLURM_MEM_PER_NODE": "256"}, "hpcc")]
)
def test_a_missing_tool_is_named(tmp_path: Path, environment: dict[str, str], tool: str) -> None:
    run = told(facts_root=facts(tmp_path))

    done = run_attempt(tmp_path, run, env={**environment, "PATH": "/no-such"})

    assert done.returncode == ExitCode.CANNOT_RUN
    assert metadata_of(tmp_path)["reason"].startswith(f"{tool} is not installed on node")


def test_without_gpus_stream_runs_on_every_core_in_arrays_larger_than_the_caches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tool(tmp_path / "bin", "hpcc", "")
    write_tool(tmp_path / "bin", "mpirun", f"printf '{HPCC_ENDS}' > hpccoutf.txt")
    environment = {"SLURM_MEM_PER_NODE": "256", "SLURM_CPUS_ON_NODE": "1"}

    ran = run_here(
        MemoryBandwidth, tmp_path, monkeypatch, told(facts_root=facts(tmp_path)), environment
    )

    assert ran.refusal == ""
    assert (ran.argv[0], ran.argv[-3:]) == ("mpirun", ["-np", "1", "hpcc"])
    assert ran.text("memory-node.json") == '{"cache_bytes": 1048576}'
    assert "\n1344  Ns\n" in ran.text("hpccinf.txt")  # 8 * 1344² bytes: 13.8 times 1 MiB


@pytest.mark.parametrize(
    ("cache", "memory_mb", "why"),
    [
        ("266240K", "512", "4 times the caches of 260 MiB do not fit into 409 MiB (80% of the"),
        ("", "512", "does not say how large its caches are"),
    ],
)
def test_a_node_where_only_caches_could_be_measured_could_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: str, memory_mb: str, why: str
) -> None:
    run = told(facts_root=facts(tmp_path, cache))

    ran = run_here(MemoryBandwidth, tmp_path, monkeypatch, run, {"SLURM_MEM_PER_NODE": memory_mb})

    assert why in ran.refusal


def test_the_arrays_hold_the_caches_twelve_times_where_memory_has_room_else_four() -> None:
    wide = stream_problem(64 * MIB, most_bytes=1 << 40, ranks=16)
    narrow = stream_problem(64 * MIB, most_bytes=400 * MIB, ranks=16)

    for problem, times in ((wide, 12), (narrow, 4)):
        assert times <= 8 * problem.n**2 * problem.ranks / (64 * MIB) < 1.5 * times
        assert (problem.p, problem.q, problem.n % problem.nb) == (1, 1, 0)
    with pytest.raises(CannotRun):
        stream_problem(64 * MIB, most_bytes=100 * MIB, ranks=16)
