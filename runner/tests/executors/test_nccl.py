"""nccl-tests on every GPU of one node or of several, by stand-ins that print its formats."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from runner.base import BaseRunner
from runner.contract.slugs import Slugs
from runner.contract.wire import ExitCode
from runner.executors import nccl_loopback
from runner.executors.nccl_collective import NcclAllReduce
from runner.executors.nccl_loopback import NcclLoopback, NcclLoopbackNetwork
from runner.nccl import FIND, nccl_tests
from runner.registry import get_executor
from runner.tests.executors.gpu_node import (
    CONTAINED,
    EIGHT,
    IN_IMAGE,
    NODES,
    Ran,
    node_of,
    printing,
    run_here,
)
from runner.tests.given import context_told, metadata_of, run_attempt, write_tool

CORPUS = "corpus/nccl-tests"
PASSED = f"{CORPUS}/allreduce_2x8_sweep.txt"
PROGRAMS = {
    Slugs.NCCL_ALL_REDUCE: "all_reduce_perf",
    Slugs.NCCL_ALL_GATHER: "all_gather_perf",
    Slugs.NCCL_REDUCE_SCATTER: "reduce_scatter_perf",
    Slugs.NCCL_ALL_TO_ALL: "alltoall_perf",
    Slugs.NCCL_SENDRECV: "sendrecv_perf",
    Slugs.NCCL_BROADCAST: "broadcast_perf",
    Slugs.NCCL_LOOPBACK: "all_reduce_perf",
    Slugs.NCCL_LOOPBACK_NETWORK: "all_reduce_perf",
}
SWEEP = ["-b", "8", "-f", "2", "-g", "1", "-t", "1", "-n", "20", "-w", "5", "-c", "1", "-e"]


def told(slug: str = Slugs.NCCL_ALL_REDUCE, *, num_nodes: int = 2) -> dict[str, Any]:
    return context_told(slug=slug, num_nodes=num_nodes)


def ranks(count: int, *, of: int) -> list[str]:
    tasks = [f"--nodes={of}", f"--ntasks={of * count}", f"--ntasks-per-node={count}"]
    return ["srun", *tasks, "--kill-on-bad-exit=1"]


@pytest.mark.parametrize("resource_class", NODES)
def test_every_class_runs_one_rank_on_each_gpu_of_every_node(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, resource_class: str
) -> None:
    node = node_of(resource_class)

    ran = run_here(NcclAllReduce, tmp_path, monkeypatch, told(num_nodes=4), node, srun=PASSED)

    largest = "8G" if resource_class == "l40s-8x" else "16G"
    assert ran.argv == [
        *ranks(NODES[resource_class], of=4),
        *("--cpu-bind=none", "--mpi=pmix", "sh", "-c", FIND, "all_reduce_perf"),
        *(*SWEEP, largest),
    ]
    assert f'"gpu_count": {NODES[resource_class]}' in ran.text("gpu-node.json")
    assert "# Avg bus bandwidth" in ran.text("nccl-tests.txt")


@pytest.mark.parametrize(("slug", "program"), PROGRAMS.items())
def test_each_test_is_one_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, slug: str, program: str
) -> None:
    executor = get_executor(slug)

    ran = run_here(executor, tmp_path, monkeypatch, told(slug), EIGHT, srun=PASSED)

    assert ran.argv[-len(SWEEP) - 2 :] == [program, *SWEEP, "16G"]


def test_in_a_container_of_the_site_every_rank_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = run_here(NcclAllReduce, tmp_path, monkeypatch, told(), CONTAINED, srun=PASSED)

    assert ran.argv[: len(ranks(8, of=2)) + 4] == [
        *(*ranks(8, of=2), *IN_IMAGE, "--cpu-bind=none", "--mpi=pmix"),
    ]


def environment_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, executor: type[BaseRunner]
) -> list[str]:
    write_tool(tmp_path / "bin", "srun", "env; echo '# Avg bus bandwidth'")
    ran = run_here(executor, tmp_path, monkeypatch, told(num_nodes=1), EIGHT)
    return sorted(line for line in ran.text("nccl-tests.txt").splitlines() if "NCCL_" in line)


def test_within_a_node_the_library_chooses_the_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert environment_of(tmp_path, monkeypatch, NcclLoopback) == ["NCCL_DEBUG=WARN"]


def test_through_the_nics_every_other_way_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert environment_of(tmp_path, monkeypatch, NcclLoopbackNetwork) == [
        "NCCL_DEBUG=INFO",
        "NCCL_DEBUG_SUBSYS=INIT",
        "NCCL_NET_GDR_LEVEL=5",
        "NCCL_NVLS_ENABLE=0",
        "NCCL_P2P_DISABLE=1",
        "NCCL_SHM_DISABLE=1",
    ]


@pytest.mark.parametrize("exit_code", [0, 1])
def test_wrong_values_are_a_report_whatever_the_exit_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, exit_code: int
) -> None:
    wrong = f"{CORPUS}/allreduce_1x8_sweep_wrong.txt"
    printing(tmp_path / "bin", "srun", wrong, exit_code=exit_code)

    ran = run_here(NcclLoopback, tmp_path, monkeypatch, told(num_nodes=1), EIGHT)

    assert ran.refusal == ""
    assert "# Out of bounds values : 3 FAILED" in ran.text("nccl-tests.txt")


def refused(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    srun: str,
    executor: type[BaseRunner] = NcclAllReduce,
) -> Ran:
    write_tool(tmp_path / "bin", "srun", srun)
    return run_here(executor, tmp_path, monkeypatch, told(), EIGHT)


def test_what_a_rank_calls_its_failure_is_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    srun = """echo "n2: Test NCCL failure common.cu:303 'unhandled system error'"
echo " .. n2 pid 48121: Test failure common.cu:844"
echo "srun: error: n2: task 9: Exited with exit code 3" >&2
exit 3"""

    ran = refused(tmp_path, monkeypatch, srun)

    assert ran.refusal == (
        "all_reduce_perf failed (exit 3): n2: Test NCCL failure common.cu:303 "
        "'unhandled system error'"
    )


def test_a_run_that_was_cut_could_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    srun = """echo "#       size         count"
echo "srun: error: n2: task 9: Killed" >&2
exit 137"""

    ran = refused(tmp_path, monkeypatch, srun)

    assert ran.refusal == (
        "all_reduce_perf left no report (exit 137): srun: error: n2: task 9: Killed"
    )


def test_one_that_hangs_within_a_node_is_ended_and_could_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(nccl_loopback, "LONGEST_S", 0.2)

    ran = refused(tmp_path, monkeypatch, "exec sleep 60", NcclLoopback)

    assert ran.refusal == "all_reduce_perf hung and was ended after 0 s"


def test_a_collective_that_hangs_runs_out_of_the_jobs_time(tmp_path: Path) -> None:
    facts = r"""case "$*" in *facts*) echo '{"rank": 0, "node_name": "n1"}'
echo '{"rank": 1, "node_name": "n2"}'; exit;; esac"""
    write_tool(tmp_path / "bin", "srun", f"{facts}\nexec sleep 60")

    done = run_attempt(
        tmp_path / "a", {**told(), "time_limit_s": 2}, tools=tmp_path / "bin", env=EIGHT
    )

    assert done.returncode == ExitCode.TIMED_OUT
    assert metadata_of(tmp_path / "a")["outcome"] == "timed_out"


def test_without_slurm_there_are_no_ranks(tmp_path: Path) -> None:
    slug = Slugs.NCCL_LOOPBACK

    done = run_attempt(tmp_path, told(slug, num_nodes=1), env={**EIGHT, "PATH": "/no-such"})

    assert done.returncode == ExitCode.CANNOT_RUN
    assert metadata_of(tmp_path)["reason"].startswith("srun is not installed on node")


def found(directory: Path, *names: str) -> subprocess.CompletedProcess[str]:
    """Start a program as each rank does, where these are installed."""
    for name in names:
        write_tool(directory, name, f'echo {name} "$@"')
    argv = nccl_tests("all_reduce_perf", "h100-sxm5-8x")
    return subprocess.run(
        argv,
        env={"PATH": f"{directory}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_rank_takes_the_program_with_mpi_where_there_are_two(tmp_path: Path) -> None:
    both = found(tmp_path / "two", "all_reduce_perf", "all_reduce_perf_mpi")
    one = found(tmp_path / "one", "all_reduce_perf")

    assert both.stdout == "all_reduce_perf_mpi -b 8 -f 2 -g 1 -t 1 -n 20 -w 5 -c 1 -e 16G\n"
    assert one.stdout.startswith("all_reduce_perf -b 8 ")


def test_a_rank_without_the_program_says_where_it_looked(tmp_path: Path) -> None:
    done = found(tmp_path)

    assert done.returncode == 127
    assert done.stderr.startswith("all_reduce_perf is not installed on ")
    assert "/opt/nccl-tests/build:/opt/nccl_tests/build:/opt/rccl-tests/build" in done.stderr
