"""HPCG: NVIDIA's and AMD's builds one rank a GPU through srun, the site's xhpcg one rank a core."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runner.contract.slugs import Slugs
from runner.contract.wire import ExitCode
from runner.endings import CannotRun
from runner.executors import hpcg
from runner.executors.hpcg import IN_RESULTS, Hpcg, edge_of
from runner.tests.executors.gpu_node import (
    CONTAINED,
    EIGHT,
    IN_IMAGE,
    PRINTED,
    Ran,
    node_of,
    run_here,
)
from runner.tests.given import context_told, metadata_of, run_attempt, write_tool

RANKS = ["srun", "--nodes=1", "--ntasks=8", "--ntasks-per-node=8", "--kill-on-bad-exit=1"]
MPI = ["--cpu-bind=none", "--mpi=pmix"]
TOLD: dict[str, Any] = context_told(slug=Slugs.HPCG)
YAML = PRINTED / "corpus/hpcg/rochpcg_8x_mi300x_valid.yaml"
TXT = PRINTED / "corpus/hpcg/hpcg_3.1_valid_short.txt"
TWO_CORES = {"SLURM_MEM_PER_NODE": "64", "SLURM_CPUS_ON_NODE": "2"}
MIB = 1 << 20


def test_nvidias_runs_a_minute_on_each_gpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = {"srun": "printed/hpcg_8x_valid.txt"}

    ran = run_here(Hpcg, tmp_path, monkeypatch, TOLD, CONTAINED, **printed)

    script = "/workspace/hpcg.sh --nx 256 --ny 256 --nz 256 --rt 60"
    assert ran.argv == [*RANKS, *IN_IMAGE, *MPI, *script.split()]
    assert ran.refusal == ""


def on_amd(directory: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> Ran:
    write_tool(directory / "bin", "srun", f"cd {directory}/attempt/results && {script}")
    node = {**node_of("mi300x-8x"), "BURN_IN_CONTAINER": "/shared/images/tool.sqsh"}
    return run_here(Hpcg, directory, monkeypatch, TOLD, node)


def test_amds_leaves_its_report_where_it_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = on_amd(tmp_path, monkeypatch, f"cp {YAML} HPCG-Benchmark-3.0_2025.11.03.10.15.33.yaml")

    results = str(tmp_path / "attempt/results")
    started = [*IN_RESULTS, results, "rochpcg", "560", "280", "280", "60"]
    mounted = f"--container-mounts={results}:{results}"
    assert (ran.argv, ran.refusal) == ([*RANKS, *IN_IMAGE, mounted, *MPI, *started], "")
    assert ran.text("hpcg.txt") == YAML.read_text()


@pytest.mark.parametrize(
    ("script", "refusal"),
    [
        ("echo no HIP devices >&2; exit 1", "rochpcg left no report (exit 1): no HIP devices"),
        (
            "touch HPCG-Benchmark-a.yaml HPCG-Benchmark-b.yaml",
            "rochpcg left several reports: HPCG-Benchmark-a.yaml, HPCG-Benchmark-b.yaml",
        ),
    ],
)
def test_without_its_one_report_amds_could_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, refusal: str
) -> None:
    assert on_amd(tmp_path, monkeypatch, script).refusal == refusal


def test_one_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hpcg, "RUN_S", 0.1)
    monkeypatch.setattr(hpcg, "SETTLE_S", 0.1)
    write_tool(tmp_path / "bin", "srun", "exec sleep 60")

    nvidia = run_here(Hpcg, tmp_path, monkeypatch, TOLD, EIGHT)

    assert nvidia.refusal == "hpcg hung and was ended after 0 s"


def test_on_every_core_the_sites_own_runs_through_open_mpi(tmp_path: Path) -> None:
    tools = tmp_path / "bin"
    write_tool(tools, "mpirun", f"cp {TXT} HPCG-Benchmark_3.1_2026-11-30_18-00-00.txt")
    write_tool(tools, "xhpcg", "exit 9")

    done = run_attempt(tmp_path / "a", TOLD, tools=tools, env=TWO_CORES)

    assert done.returncode == ExitCode.RAN, done.stderr
    results = tmp_path / "a/results"
    assert json.loads((results / "hpcg-node.json").read_text()) == {"ranks": 2, "edge": 32}
    assert (results / "hpcg.txt").read_text() == TXT.read_text()
    argv = " ".join(metadata_of(tmp_path / "a")["commands"][-1]["argv"])
    assert argv.endswith("--bind-to core -np 2 xhpcg --nx=32 --ny=32 --nz=32 --rt=60")


def test_a_node_without_xhpcg_is_told_so(tmp_path: Path) -> None:
    done = run_attempt(tmp_path, TOLD, env=TWO_CORES)

    assert done.returncode == ExitCode.CANNOT_RUN
    assert metadata_of(tmp_path)["reason"].startswith("xhpcg is not installed on node")


@pytest.mark.parametrize(("mib", "edge"), [(100_000, 104), (860, 104), (100, 48), (4, 16)])
def test_the_grid_fits_into_the_memory_of_a_core(mib: int, edge: int) -> None:
    assert edge_of(mib * MIB) == edge


def test_too_little_memory_is_no_smaller_grid() -> None:
    with pytest.raises(CannotRun, match="does not fit into the 3 MiB that each core may use"):
        edge_of(3 * MIB)
