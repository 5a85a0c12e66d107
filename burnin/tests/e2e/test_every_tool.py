"""Every test that needs no GPU, through hub and satellite, with the real tools: passed and failed.

First on nodes as they are, then with n2 broken: there each tool itself meets the fault and tells of
it. Only hello-world has nothing that could break, so its limit is raised.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from burnin.tests.e2e.conftest import MakeStack
from burnin.tests.e2e.stack import Stack
from burnin.tests.faulty_nodes import (
    FLIPS_A_VALUE,
    RECEIVES_WRONG,
    SERVES_NOBODY,
    corrupting_fio,
    faulty_srun,
)
from burnin.tests.faulty_tools import (
    CORRUPTING_FIO,
    INJECTING_STRESSAPPTEST,
    MISCALCULATING_STRESS_NG,
    MISREMEMBERING_MPIRUN,
    TROUBLE,
    TROUBLED_IPMITOOL,
    UNTROUBLED_IPMITOOL,
    faulty_tool,
)
from deploy.cluster.testing import RealCluster, RealServices
from runner.contract.slugs import Slugs

pytestmark = [pytest.mark.cluster, pytest.mark.slow, pytest.mark.xdist_group("mpi")]
SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
SOUND, BROKEN = "n1", "n2"
LITTLE_MEMORY_MB = "64"  # what site_check asks for; HPL and stressapptest then take seconds
LITTLE_CACHE = {"level": "3", "size": "1024K", "shared_cpu_list": "0-3"}  # so does STREAM
CHECKS = ["memory_size", "cpu_count", "filesystems", "disk_space", "uptime", "slurm_complaints"]
END_S = 600
QUICK = {"duration_s": 1}
ALONE: dict[str, dict[str, Any]] = {
    Slugs.HELLO_WORLD: {},
    Slugs.NODE_HEALTH: {"checks": CHECKS, "watch_s": 1},
    Slugs.MEMORY_STRESS: {"duration_s": 5},
    Slugs.STORAGE: QUICK,
    Slugs.CPU_STRESS: {"duration_s": 8},
    Slugs.HPL_CPU: {},
    Slugs.MEMORY_BANDWIDTH: {},
}
OF_A_PAIR: dict[str, dict[str, Any]] = {Slugs.PAIR_NET_LATENCY: {}, Slugs.PAIR_NET_BANDWIDTH: {}}
TOGETHER: dict[str, dict[str, Any]] = {
    Slugs.IPERF_MATRIX: QUICK,
    Slugs.MPI_ALL_REDUCE: {},
    Slugs.MPI_ALL_GATHER: {},
    Slugs.MPI_ALL_TO_ALL: {},
    Slugs.DISTRIBUTED_TRAINING_CPU: QUICK,
}
FLIPPED = r"Wrong values 2, allows at most 0 \(n2: 1 of 131072 values"
MISHEARD = r"Wrong values \d+, allows at most 0 \(n2: \d+ values"
FOUND = {
    Slugs.HELLO_WORLD: r"Nodes that answered 1, must be exactly 2 \(n2: ",
    Slugs.NODE_HEALTH: rf"Faults in the board's event log 1, .*\({re.escape(TROUBLE)}\)",
    Slugs.MEMORY_STRESS: r"Memory errors \d+, allows at most 0 \(miscompare on CPU ",
    Slugs.STORAGE: r"Phases with I/O errors 1, .* \(/tmp: verify: error 84, data came back changed",
    Slugs.CPU_STRESS: r"Wrong values \d+, allows at most 0 \(cpu: stats: harmonic mean ",
    Slugs.HPL_CPU: r"Parts with wrong results 1, .* \(HPL: residual \S+ FAILED at N=2496\)",
    Slugs.MEMORY_BANDWIDTH: r"Checks that found wrong data \d, allows at most 0 \(StarSTREAM",
    Slugs.PAIR_NET_LATENCY: MISHEARD,
    Slugs.PAIR_NET_BANDWIDTH: MISHEARD,
    Slugs.IPERF_MATRIX: r"Pairs without a connection 3, allows at most 0 \(n1→n2: ",
    Slugs.MPI_ALL_REDUCE: FLIPPED,
    Slugs.MPI_ALL_GATHER: FLIPPED,
    Slugs.MPI_ALL_TO_ALL: FLIPPED,
    Slugs.DISTRIBUTED_TRAINING_CPU: r"Ranks that ended with other weights 1, .*\(n2, first in ",
    Slugs.PARALLEL_STORAGE: r"Wrong data and I/O errors 1, .*: n1 met error 84, .* what n2 wrote: ",
}
ASK_FOR_TWO_ANSWERS = """
from django.utils import timezone
from burnin.models.audit import Actor
from burnin.models.limits import add_operators_version
two = {"value": 2, "source": "no node answers twice", "confidence": "C"}
add_operators_version("single-node.hello-world", "cpu-generic", {"responded": two},
                      by=Actor("ann"), reason="to see a test fail", now=timezone.now())
answer = None
"""


def shrink_caches(cluster: RealCluster) -> None:
    """Let nodes tell of small caches: arrays that outgrow the real ones take hpcc minutes."""
    for name in cluster.node_names:
        devices = cluster.directory / "roots" / name / "sys/devices"
        devices.unlink()  # a link to this machine's
        cache = devices / "system/cpu/cpu0/cache/index3"
        cache.mkdir(parents=True)
        for file, text in LITTLE_CACHE.items():
            (cache / file).write_text(text)


def break_node(tools: Path, scratch: Path) -> None:
    """Lay before the real tools what lets them find something wrong on n2."""
    faulty_srun(tools, FLIPS_A_VALUE + RECEIVES_WRONG + SERVES_NOBODY, node=BROKEN)
    clients = corrupting_fio(tools / "clients", scratch=scratch) / "fio"
    faulty_tool(tools, "fio", CORRUPTING_FIO, node=BROKEN, real=clients)
    faulty_tool(tools, "stressapptest", INJECTING_STRESSAPPTEST, node=BROKEN)
    faulty_tool(tools, "stress-ng", MISCALCULATING_STRESS_NG, node=BROKEN)
    faulty_tool(tools, "mpirun", MISREMEMBERING_MPIRUN, node=BROKEN)
    faulty_tool(tools, "ipmitool", TROUBLED_IPMITOOL, node=BROKEN, real=UNTROUBLED_IPMITOOL)


def ended(stack: Stack, nodes: int, asked: Mapping[str, Mapping[str, Any]]) -> str:
    """Run these tests on the first nodes, to their end; return the job."""
    steps = [
        {"slug": slug, "params": dict(params), "timeout_minutes": 10, "is_gate": False}
        for slug, params in asked.items()
    ]
    job_id = stack.start_job(stack.cluster.node_names[:nodes], steps)
    job = stack.wait_for_end(job_id, for_s=END_S, every_s=2)
    assert job["counts"] == job["recount"]
    assert job["nodes"] == job["node_count"] == nodes
    return job_id


def test_every_tool_passes_on_sound_nodes_and_finds_what_is_broken(
    make_stack: MakeStack,
    start_cluster: Callable[..., RealCluster],
    start_services: Callable[[], RealServices],
    tmp_path: Path,
) -> None:
    cluster = start_cluster("--node-roots", "--nodes", "4", "--memory-mb", LITTLE_MEMORY_MB)
    shrink_caches(cluster)
    stack = make_stack(cluster, start_services())
    tools, scratch = tmp_path / "tools", tmp_path / "shared"
    tools.mkdir()
    scratch.mkdir()
    stack.node_path = f"{tools}:{SYSTEM_PATH}"
    stack.open_site()
    together = {**TOGETHER, Slugs.PARALLEL_STORAGE: {**QUICK, "path": str(scratch)}}

    of_two = ended(stack, 2, {**ALONE, **OF_A_PAIR})
    of_four = ended(stack, 4, together)

    runs = [*stack.runs(of_two), *stack.runs(of_four)]
    assert {run["slug"]: run["reason"] for run in runs if run["verdict"] != "passed"} == {}
    assert Counter(run["slug"] for run in runs) == {
        **dict.fromkeys(ALONE, 2),
        **dict.fromkeys([*OF_A_PAIR, *together], 1),
    }
    assert stack.job(of_two)["verdict"] == stack.job(of_four)["verdict"] == "passed"

    break_node(tools, scratch)
    stack.django(ASK_FOR_TWO_ANSWERS)
    asks_the_board = {"checks": [*CHECKS, "event_log_faults"], "watch_s": 1}
    of_two = ended(stack, 2, {**ALONE, Slugs.NODE_HEALTH: asks_the_board, **OF_A_PAIR})
    of_four = ended(stack, 4, together)

    runs = [*stack.runs(of_two), *stack.runs(of_four)]
    beside = {run["slug"]: run["verdict"] for run in runs if run["node"] == SOUND}
    assert beside == {**dict.fromkeys(ALONE, "passed"), Slugs.HELLO_WORLD: "failed"}
    met = {run["slug"]: run for run in runs if run["node"] != SOUND}
    assert len(runs) == len(beside) + len(met)
    told = {slug: (run["verdict"], run["cause"], run["reason"]) for slug, run in met.items()}
    assert {slug: said[:2] for slug, said in told.items()} == dict.fromkeys(
        FOUND, ("failed", "hardware")
    ), told
    for slug, words in FOUND.items():
        assert re.search(words, told[slug][2]), told[slug]
    assert stack.job(of_two)["verdict"] == stack.job(of_four)["verdict"] == "failed"
