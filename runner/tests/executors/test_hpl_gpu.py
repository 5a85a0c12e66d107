"""HPL and HPL-MxP of NVIDIA's container and of AMD's, one rank a GPU through srun."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runner.contract.slugs import Slugs
from runner.executors import hpl_gpu
from runner.executors.hpl_gpu import HplGpu, HplMxp
from runner.tests.executors.gpu_node import (
    CONTAINED,
    EIGHT,
    IN_IMAGE,
    Ran,
    node_of,
    run_here,
)
from runner.tests.given import context_told, write_tool

H100 = "printed/gpu_memory_8x_h100.txt"
PASSED = "printed/hpl_8x_h100_passed.txt"
RANKS = ["srun", "--nodes=1", "--ntasks=8", "--ntasks-per-node=8", "--kill-on-bad-exit=1"]
MPI = ["--cpu-bind=none", "--mpi=pmix"]


def told(slug: str) -> dict[str, Any]:
    return context_told(slug=slug)


def run_hpl(
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    node: dict[str, str],
    *,
    srun: str = PASSED,
    smi: str = H100,
) -> Ran:
    printed = {"srun": srun, "nvidia-smi": smi}
    return run_here(HplGpu, directory, monkeypatch, told(Slugs.HPL_GPU), node, **printed)


def test_in_nvidias_container_hpl_gets_its_file_mounted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = run_hpl(tmp_path, monkeypatch, CONTAINED)

    results = tmp_path / "attempt/results"
    mounted = f"--container-mounts={results}:{results}"
    script = ["/workspace/hpl.sh", "--dat", f"{results}/HPL.dat", "--no-multinode"]
    assert ran.argv == [*RANKS, *IN_IMAGE, mounted, *MPI, *script]
    solved = json.loads(ran.text("hpl-problem.json"))
    assert solved == {"n": 264192, "nb": 1024, "p": 4, "q": 2, "ranks": 8}
    lines = ran.text("HPL.dat").splitlines()
    assert [int(lines[at - 1].split()[0]) for at in (6, 8, 9, 11, 12)] == [264192, 1024, 1, 4, 2]
    assert "End of Tests." in ran.text("hpl.txt")


def test_without_a_container_hpl_comes_from_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = run_hpl(tmp_path, monkeypatch, EIGHT)

    assert ran.argv[:8] == [*RANKS, *MPI, "hpl.sh"]


@pytest.mark.parametrize(
    ("resource_class", "mib", "problem"),
    [
        ("a100-sxm4-80g-8x", 81920, {"n": 265216, "p": 4, "q": 2}),
        ("h200-8x", 143771, {"n": 351232, "p": 4, "q": 2}),
        ("gb200-nvl72", 189471, {"n": 284672, "p": 2, "q": 2}),
        ("l40s-8x", 46068, {"n": 198656, "p": 4, "q": 2}),
    ],
)
def test_the_size_follows_from_the_memory_of_the_gpus(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    resource_class: str,
    mib: int,
    problem: dict[str, int],
) -> None:
    node = node_of(resource_class)
    write_tool(tmp_path / "bin", "nvidia-smi", f"yes {mib} | head -{node['SLURM_GPUS_ON_NODE']}")

    ran = run_here(HplGpu, tmp_path, monkeypatch, told(Slugs.HPL_GPU), node, srun=PASSED)

    ranks = problem["p"] * problem["q"]
    asked = json.loads(ran.text("hpl-problem.json"))
    assert asked == {"nb": 1024, "ranks": ranks, **problem}


def test_amd_gpus_get_rochpl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    printed = {"srun": PASSED, "rocm-smi": "printed/gpu_memory_8x_mi300x.json"}
    node = node_of("mi300x-8x")

    ran = run_here(HplGpu, tmp_path, monkeypatch, told(Slugs.HPL_GPU), node, **printed)

    sizes = ["-P", "4", "-Q", "2", "-N", "411136", "--NB", "512"]
    assert ran.argv == [*RANKS, *MPI, "run_rochpl", *sizes]


def test_a_failed_residual_is_a_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = "printed/hpl_8x_h100_failed.txt"

    ran = run_hpl(tmp_path, monkeypatch, CONTAINED, srun=failed)

    assert (ran.refusal, ran.exit_code) == ("", 0)
    assert "FAILED" in ran.text("hpl.txt")


def test_a_container_that_does_not_start_could_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "pyxis: failed to import docker image"
    write_tool(tmp_path / "bin", "srun", f"echo '{said}' >&2; exit 1")

    ran = run_here(
        HplGpu, tmp_path, monkeypatch, told(Slugs.HPL_GPU), CONTAINED, **{"nvidia-smi": H100}
    )

    assert ran.refusal == f"hpl left no result (exit 1): {said}"


def test_one_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hpl_gpu, "SLOWEST_FLOP_S", 1e18)
    monkeypatch.setattr(hpl_gpu, "SETTLE_S", 0.1)
    write_tool(tmp_path / "bin", "srun", "exec sleep 60")

    ran = run_here(
        HplGpu, tmp_path, monkeypatch, told(Slugs.HPL_GPU), EIGHT, **{"nvidia-smi": H100}
    )

    assert ran.refusal == "hpl hung and was ended after 0 s"


def test_gpus_whose_memory_cannot_be_read_are_not_guessed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tool(tmp_path / "bin", "nvidia-smi", "echo No devices were found; exit 6")

    ran = run_here(HplGpu, tmp_path, monkeypatch, told(Slugs.HPL_GPU), EIGHT)

    assert ran.refusal == (
        "the memory of 0 GPUs could be read, the job was given 8: No devices were found"
    )


def test_mixed_precision_has_its_sizes_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = {"srun": "printed/hpl_mxp_8x_h100_passed.txt", "nvidia-smi": H100}

    ran = run_here(HplMxp, tmp_path, monkeypatch, told(Slugs.HPL_MXP), CONTAINED, **printed)

    assert " ".join(ran.argv[len([*RANKS, *IN_IMAGE, *MPI]) :]) == (
        "/workspace/hpl-mxp.sh --n 274432 --nb 1024 --nprow 4 --npcol 2 --nporder row"
        " --gpu-affinity 0:1:2:3:4:5:6:7 --sloppy-type 2"
    )


def test_amds_mixed_precision_reads_a_file_of_a_size_that_is_even(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printed = {
        "srun": "corpus/hpl/rochpl_mxp_8x_mi300x_passed.txt",
        "rocm-smi": "printed/gpu_memory_8x_mi300x.json",
    }
    node = {**node_of("mi300x-8x"), "BURN_IN_CONTAINER": "/shared/images/tool.sqsh"}

    ran = run_here(HplMxp, tmp_path, monkeypatch, told(Slugs.HPL_MXP), node, **printed)

    results = tmp_path / "attempt/results"
    mounted = f"--container-mounts={results}:{results}"
    words = ["-P", "4", "-Q", "2", "-i", f"{results}/mxp.dat"]
    assert ran.argv == [*RANKS, *IN_IMAGE, mounted, *MPI, "run_rochplmxp", *words]
    solved = json.loads(ran.text("hpl-problem.json"))
    assert solved == {"n": 573440, "nb": 2560, "p": 4, "q": 2, "ranks": 8}
    lines = ran.text("mxp.dat").splitlines()
    assert [float(lines[at - 1].split()[0]) for at in (4, 6, 8, 10, 11, 12)] == [
        *(6, 573440, 2560, 4, 2, 16.0)
    ]
