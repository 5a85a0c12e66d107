"""rvs: the golden command lines of gemm, gpu-burn, memory-bandwidth and its levels on MI300X."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runner import rocm
from runner.base import BaseRunner
from runner.contract.slugs import Slugs
from runner.contract.wire import ExitCode
from runner.executors import gemm, rvs
from runner.executors.gemm import Gemm
from runner.executors.gpu_burn import GpuBurn, rvs_burn
from runner.executors.memory_bandwidth import MemoryBandwidth
from runner.executors.rvs import Rvs
from runner.rocm import START, rvs_conf
from runner.tests.executors.gpu_node import IN_IMAGE, ONE_TASK, PRINTED, Ran, node_of, run_here
from runner.tests.given import context_told, metadata_of, run_attempt, write_tool

MI300X = node_of("mi300x-8x")
CONTAINED = {**MI300X, "BURN_IN_CONTAINER": "/shared/images/tool.sqsh"}
LEVEL_4 = "corpus/rvs/level_4_8x_mi300x.txt"
BABEL = "corpus/rvs/babel_8x_mi300x.txt"
WAYS = PRINTED / "corpus/rocm-bandwidth-test"
STARTED = ["sh", "-c", START]


def told(slug: str = Slugs.RVS, **params: int) -> dict[str, Any]:
    return context_told(slug=slug, params=params)


def level(number: int = 4) -> dict[str, Any]:
    return told(level=number)


@pytest.mark.parametrize("number", [3, 4, 5])
def test_the_level_is_amds_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    ran = run_here(Rvs, tmp_path, monkeypatch, level(number), MI300X, rvs=LEVEL_4)

    assert (ran.argv, ran.refusal) == ([*STARTED, "rvs", "-r", str(number)], "")
    assert ran.text("rvs.txt") == (PRINTED / LEVEL_4).read_text()
    assert '"resource_class": "mi300x-8x"' in ran.text("gpu-node.json")


def test_in_a_container_of_the_site_it_is_a_task_of_srun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = run_here(Rvs, tmp_path, monkeypatch, level(), CONTAINED, srun=LEVEL_4)

    assert ran.argv == [*ONE_TASK, *IN_IMAGE, *STARTED, "rvs", "-r", "4"]


def recipe(
    test: type[BaseRunner], directory: Path, monkeypatch: pytest.MonkeyPatch, **params: int
) -> Ran:
    """Run a test that gives RVS actions of its own, and check how RVS is started."""
    for name, printed in (("-v", "mi300x_8x_checked.txt"), ("-a", "mi300x_8x_one_way.txt")):
        write_tool(directory / "ways", name, f"cat {WAYS / printed}")
    write_tool(directory / "bin", "rocm-bandwidth-test", f'exec {directory}/ways/"$1"')
    context = told(test.slug, **params)
    ran = run_here(test, directory, monkeypatch, context, CONTAINED, srun=BABEL)
    results = directory / "attempt/results"
    mounted = f"--container-mounts={results}:{results}"
    started = [*ONE_TASK, *IN_IMAGE, mounted, *STARTED, "rvs", "-c", f"{results}/rvs.conf"]
    assert (ran.argv, ran.refusal) == (started, "")
    return ran


def test_gemm_multiplies_what_amds_levels_multiply(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert recipe(Gemm, tmp_path, monkeypatch).text("rvs.conf") == (
        "actions:\n- name: gemm-bf16\n  module: gst\n  parallel: true\n  log_interval: 3000\n"
        "  ramp_interval: 5000\n  duration: 60000\n  hot_calls: 1000\n  copy_matrix: false\n"
        "  target_stress: 0\n  matrix_size_a: 4864\n  matrix_size_b: 4096\n"
        "  matrix_size_c: 8192\n  matrix_init: trig\n  data_type: bf16_r\n  lda: 8320\n"
        "  ldb: 8320\n  ldc: 4992\n  ldd: 4992\n  transa: 1\n  transb: 0\n  alpha: 1\n"
        "  beta: 0\n  device: all\n"
    )


def test_a_burn_proves_its_checks_and_then_burns_for_as_long_as_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conf = recipe(GpuBurn, tmp_path, monkeypatch, duration_s=180).text("rvs.conf")

    assert conf == rvs_conf(rvs_burn(180))
    assert [line for line in conf.splitlines() if line.startswith("- ")] == [
        "- module: gst",
        "- module: gst",
        "- name: power",
    ]
    proof, burn, power = conf.split("\n- ")[1:]
    assert "error_inject: true\n" in proof
    assert "error_inject" not in burn + power
    assert "self_check: true\n" in proof
    assert "self_check: true\n" in burn
    assert "  duration: 90000\n" in burn
    assert "  duration: 90000\n" in power


def test_memory_is_measured_on_one_gpu_after_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runner.executors.memory_bandwidth.AMD_WAYS", {})

    conf = recipe(MemoryBandwidth, tmp_path, monkeypatch).text("rvs.conf")

    for line in ("module: babel", "parallel: false", "array_size: 268435456", "mibibytes: false"):
        assert f"  {line}\n" in conf


def test_every_way_is_checked_before_it_is_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for option, printed in (("-v", "mi300x_8x_checked.txt"), ("-a", "mi300x_8x_one_way.txt")):
        write_tool(tmp_path / "ways", option, f"cat {WAYS / printed}")
    write_tool(tmp_path / "bin", "rocm-bandwidth-test", f'exec {tmp_path}/ways/"$1"')

    ran = run_here(
        MemoryBandwidth, tmp_path, monkeypatch, told(Slugs.MEMORY_BANDWIDTH), MI300X, rvs=BABEL
    )

    argv = [command.argv for command in ran.workspace.commands]
    assert argv[:2] == [[*STARTED, "rocm-bandwidth-test", option] for option in ("-v", "-a")]
    assert "Data Path Validation" in ran.text("rocm-bandwidth-check.txt")
    assert "Unidirectional copy" in ran.text("rocm-bandwidth-test.txt")
    assert rocm.SUMMARY in ran.text("rvs.txt")


@pytest.mark.parametrize("exit_code", [0, 1])
def test_a_fault_is_a_report_whatever_the_exit_code(tmp_path: Path, exit_code: int) -> None:
    write_tool(tmp_path / "bin", "rvs", f"cat {PRINTED / LEVEL_4}; exit {exit_code}")

    done = run_attempt(tmp_path / "a", level(), tools=tmp_path / "bin", env=MI300X)

    assert done.returncode == ExitCode.RAN, done.stderr


def test_without_a_summary_it_could_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tool(tmp_path / "bin", "rvs", "echo RVS-ERROR No devices matches criteria >&2; exit 1")

    ran = run_here(Rvs, tmp_path, monkeypatch, level(), MI300X)

    assert ran.refusal.startswith("rvs left no result (exit 1)")
    assert "No devices matches criteria" in ran.text("rvs.txt")


def test_one_that_hangs_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rvs, "LONGEST_S", {4: 0.2})
    monkeypatch.setattr(gemm, "SETTLE_S", -59.8)
    write_tool(tmp_path / "bin", "rvs", "exec sleep 60")

    suite = run_here(Rvs, tmp_path, monkeypatch, level(), MI300X)

    assert suite.refusal.startswith("rvs hung and was ended after ")


@pytest.mark.parametrize(
    ("slug", "params", "tool"),
    [
        (Slugs.RVS, {"level": 4}, "rvs"),
        (Slugs.GEMM, {}, "rvs"),
        (Slugs.GPU_BURN, {"duration_s": 60}, "rvs"),
        (Slugs.MEMORY_BANDWIDTH, {}, "rocm-bandwidth-test"),
    ],
)
def test_a_missing_tool_is_named(
    tmp_path: Path, slug: str, params: dict[str, int], tool: str
) -> None:
    done = run_attempt(tmp_path, told(slug, **params), env=MI300X)

    assert done.returncode == ExitCode.CANNOT_RUN
    assert f"{tool} is not installed on " in metadata_of(tmp_path)["reason"]
