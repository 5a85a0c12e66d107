"""Memory and cores of a job, as Slurm and the node say them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from runner.job_share import job_cores, memory_from_environment, memory_from_scontrol


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"SLURM_MEM_PER_NODE": "100"}, 100 << 20),
        ({"SLURM_MEM_PER_CPU": "10", "SLURM_CPUS_ON_NODE": "4"}, 40 << 20),
        ({"SLURM_MEM_PER_CPU": "10"}, None),
        ({"SLURM_MEM_PER_NODE": "0"}, None),
        ({"SLURM_MEM_PER_NODE": "lots"}, None),
        ({}, None),
    ],
)
def test_the_environment_names_the_memory(
    environment: dict[str, str], expected: int | None
) -> None:
    assert memory_from_environment(environment) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("JobId=1 NumNodes=1 TRES=cpu=1,mem=2G,node=1 X=y", 2 << 30),
        ("NumNodes=2 TRES=cpu=1,mem=3000M,node=2", 1500 << 20),
        ("NumNodes=1 ReqTRES=cpu=1,mem=9G AllocTRES=cpu=1,mem=1.5G,node=1", 1536 << 20),
        ("NumNodes=1 ReqTRES=cpu=1,mem=9G AllocTRES=(null)", None),
        ("NumNodes=1 TRES=cpu=1,node=1 Comment=mem=5G", None),
        ("slurm_load_jobs error: Invalid job id specified", None),
        ("", None),
    ],
)
def test_the_controller_names_the_memory(text: str, expected: int | None) -> None:
    assert memory_from_scontrol(text) == expected


def test_two_threads_of_a_core_are_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 4, 5})
    monkeypatch.delenv("SLURM_CPUS_ON_NODE", raising=False)
    for cpu, siblings in {0: "0,4", 1: "1,5", 4: "0,4", 5: "1,5"}.items():
        topology = tmp_path / f"cpu{cpu}" / "topology"
        topology.mkdir(parents=True)
        (topology / "thread_siblings_list").write_text(f"{siblings}\n")

    assert job_cores(tmp_path) == 2
    assert job_cores(tmp_path / "unreadable") == 4

    monkeypatch.setenv("SLURM_CPUS_ON_NODE", "1")
    assert job_cores(tmp_path) == 1
