"""HPL by hpcc, which exits 0 whatever it found, and appends to what is there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runner import hpcc
from runner.contract.slugs import Slugs
from runner.contract.wire import ExitCode
from runner.executors import hpl_cpu
from runner.executors.hpl_cpu import HplCpu
from runner.tests.executors.gpu_node import run_here
from runner.tests.given import (
    REPOSITORY,
    context_told,
    metadata_of,
    run_attempt,
    write_tool,
)

RECORDED = REPOSITORY / "fixtures/corpus/hpcc"
SMALL = {"SLURM_MEM_PER_NODE": "4", "SLURM_CPUS_ON_NODE": "1"}
PRINTS = "cp {}/{} hpccoutf.txt"
OPENBLAS = """cat <<'END'
\tlibblas.so.3 => /x/libblas.so.3 (0x0)
\tlibopenblas.so.0 => /x/libopenblas.so.0 (0x0)
END
"""


def told() -> dict[str, Any]:
    return context_told(slug=Slugs.HPL_CPU)


def stand_ins(directory: Path, mpirun: str, *, ldd: str = OPENBLAS) -> Path:
    for name, script in {"mpirun": mpirun, "ldd": ldd, "hpcc": "exit 9"}.items():
        write_tool(directory, name, script)
    return directory


def test_the_real_tool_solves_on_one_core(tmp_path: Path) -> None:
    done = run_attempt(tmp_path, told(), env=SMALL)

    assert done.returncode == ExitCode.RAN, done.stderr
    assert "HPL_N=576" in (tmp_path / "results/hpccoutf.txt").read_text()
    node = json.loads((tmp_path / "results/hpcc-node.json").read_text())
    assert (node["n"], node["nb"], node["p"], node["q"]) == (576, 192, 1, 1)
    assert "libopenblas" in node["blas"]
    metadata = metadata_of(tmp_path)
    assert " ".join(metadata["commands"][-1]["argv"]) == (
        "mpirun --allow-run-as-root --mca plm isolated --mca ras ^slurm --mca pml ob1"
        " --mca btl self,vader --mca mpi_yield_when_idle 1 --map-by core --bind-to core"
        " -np 1 hpcc"
    )
    assert metadata["tools"]["mpirun"].startswith("mpirun (Open MPI)")


def test_a_failed_residual_is_a_report_and_not_an_error(tmp_path: Path) -> None:
    tools = stand_ins(tmp_path / "bin", PRINTS.format(RECORDED, "residual_failed.txt"))

    done = run_attempt(tmp_path / "a", told(), tools=tools, env=SMALL)

    assert done.returncode == ExitCode.RAN, done.stderr
    assert "FAILED" in (tmp_path / "a/results/hpccoutf.txt").read_text()


def test_a_report_without_its_end_was_not_measured(tmp_path: Path) -> None:
    cut = PRINTS.format(RECORDED, "truncated_in_dgemm.txt")
    tools = stand_ins(tmp_path / "bin", f"{cut}; echo signal 4 >&2; exit 132")

    done = run_attempt(tmp_path / "a", told(), tools=tools, env=SMALL)

    assert done.returncode == ExitCode.CANNOT_RUN
    assert metadata_of(tmp_path / "a")["reason"] == (
        "hpcc did not get to its end (exit 132): signal 4"
    )


def test_one_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_ins(tmp_path / "bin", "exec sleep 60")
    monkeypatch.setattr(hpcc, "SETTLE_S", 0.1)

    ran = run_here(HplCpu, tmp_path, monkeypatch, told(), SMALL)

    assert ran.refusal == "hpcc hung and was ended after 0 s"


def test_the_reference_blas_says_nothing_of_the_cpu(tmp_path: Path) -> None:
    reference = "echo '\tlibblas.so.3 => /x/libblas.so.3.11.0 (0x0)'"
    tools = stand_ins(tmp_path / "bin", "exit 9", ldd=reference)

    done = run_attempt(tmp_path / "a", told(), tools=tools, env=SMALL)

    assert done.returncode == ExitCode.CANNOT_RUN
    reason = metadata_of(tmp_path / "a")["reason"]
    assert reason.startswith("hpcc loads libblas.so.3.11.0 and no other BLAS on ")


def test_a_missing_tool_is_named(tmp_path: Path) -> None:
    done = run_attempt(tmp_path, told(), env={**SMALL, "PATH": "/no-such"})

    assert done.returncode == ExitCode.CANNOT_RUN
    assert metadata_of(tmp_path)["reason"].startswith("hpcc is not installed on node")


def test_memory_without_a_block_for_each_core_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hpl_cpu, "job_cores", lambda: 64)

    ran = run_here(HplCpu, tmp_path, monkeypatch, told(), SMALL)

    assert ran.refusal.startswith("the job's memory holds no block of HPL for each of 64 cores")


def test_governors_are_named_once(tmp_path: Path) -> None:
    for cpu, governor in enumerate(["performance", "powersave", "performance"]):
        directory = tmp_path / f"cpu{cpu}/cpufreq"
        directory.mkdir(parents=True)
        (directory / "scaling_governor").write_text(f"{governor}\n")

    assert hpcc.governors(tmp_path) == ["performance", "powersave"]
