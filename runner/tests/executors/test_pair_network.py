"""The tests of a pair, with stand-ins for Slurm and for perftest."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runner import perftest
from runner.contract.slugs import Slugs
from runner.contract.wire import ExitCode
from runner.endings import CannotRun
from runner.rdma import links_between, ports_below
from runner.tests.executors.gpu_node import IMAGE, PRINTED
from runner.tests.executors.rdma_nodes import node_with, told_of_pair, tools_of_pair
from runner.tests.given import metadata_of, run_attempt, workspace_in, write_tool

NDR = {"mlx5_0": {}, "mlx5_1": {"numa": 1}}
DONE = "printf ' #bytes     #iterations\\n 8388608 5000\\n'"
PERFTEST = PRINTED / "corpus/perftest"


def run(
    tmp_path: Path, slug: str, *tools: str, said: str = DONE, **more: Any
) -> tuple[int, dict[str, Any]]:
    directory = tools_of_pair(tmp_path / "bin", *tools, said=said)
    env, changes = more.pop("env", {}), more
    told = told_of_pair(slug, tmp_path / "nodes", **changes)
    done = run_attempt(tmp_path / "a", told, tools=directory, env=env)
    return done.returncode, metadata_of(tmp_path / "a")


def asked(tmp_path: Path) -> list[str]:
    lines = (tmp_path / "bin/asked").read_text().splitlines()
    return [line for line in lines if "--nodelist" in line]


def links(tmp_path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((tmp_path / "a/results/links.json").read_text())
    return found


def both(tmp_path: Path, ports: dict[str, dict[str, Any]], **more: Any) -> None:
    for node in ("n1", "n2"):
        node_with(tmp_path / "nodes" / node, ports, **more)


def test_each_link_is_measured_in_both_directions_from_its_own_processor(tmp_path: Path) -> None:
    both(tmp_path, NDR)

    code, said = run(tmp_path, Slugs.PAIR_NET_BANDWIDTH, "ib_write_bw")

    assert code == ExitCode.RAN, said["reason"]
    where = "--nodes=1 --ntasks=1 --nodelist={} --cpu-bind=none"
    recipe = (
        "numactl --cpunodebind={} --membind={} ib_write_bw -F --report_gbits -s 8388608 -n 5000"
    )
    rest = "-d mlx5_{} -i 1 -p {}"
    ways = [("n1", "n2", 0, 18515), ("n2", "n1", 0, 18516), ("n1", "n2", 1, 18517)]
    for source, target, card, port in ways:
        words = f"{recipe.format(card, card)} {rest.format(card, port)}"
        address = {"n1": "10.0.0.1", "n2": "10.0.0.2"}[target]
        assert f"{where.format(target)} {words}" in asked(tmp_path)
        assert f"{where.format(source)} {words} {address}" in asked(tmp_path)
    assert len(asked(tmp_path)) == 8
    assert links(tmp_path) == {"links": ["mlx5_0:1", "mlx5_1:1"], "lost": {}, "transport": "rdma"}
    names = {path.name for path in (tmp_path / "a/results/perftest").glob("*.1.txt")}
    assert {"n1--n2--mlx5_0.1.txt", "n2--n1--mlx5_1.1.txt"} < names


@pytest.mark.parametrize(
    ("slug", "tool", "driver", "words"),
    [
        (Slugs.PAIR_NET_LATENCY, "ib_write_lat", "", "ib_write_lat -F -s 8 -n 10000 -d mlx5_0"),
        (Slugs.PAIR_NET_BANDWIDTH_GPU, "ib_write_bw", "nvidia", "-p 18515 --use_cuda=1"),
        (Slugs.PAIR_NET_BANDWIDTH_GPU, "ib_write_bw", "amdgpu", "-p 18515 --use_rocm=1"),
        (Slugs.PAIR_NET_LATENCY_GPU, "ib_send_lat", "nvidia", "ib_send_lat -F -s 8 -n 10000 -d"),
    ],
)
def test_the_recipe_of_each(tmp_path: Path, slug: str, tool: str, driver: str, words: str) -> None:
    both(tmp_path, NDR, gpu_driver=driver)

    code, said = run(tmp_path, slug, tool)

    assert code == ExitCode.RAN, said["reason"]
    assert any(words in line for line in asked(tmp_path)), asked(tmp_path)


def test_perftest_of_a_container_sees_the_same(tmp_path: Path) -> None:
    both(tmp_path, NDR, gpu_driver="nvidia")
    env = {"BURN_IN_CONTAINER": IMAGE}

    code, _ = run(tmp_path, Slugs.PAIR_NET_BANDWIDTH_GPU, "ib_write_bw", env=env)

    image = f"--cpu-bind=none --container-image={IMAGE} --no-container-mount-home numactl"
    assert code == ExitCode.RAN
    assert all(image in line for line in asked(tmp_path))


def test_where_no_node_has_a_port_mpi_takes_its_network(tmp_path: Path) -> None:
    tools = tools_of_pair(tmp_path / "bin", said="")
    srun = (tools / "srun").read_text().partition("nodes=")
    reports = 'for word; do case $word in report=*) echo {} > "${word#*=}";; esac; done; exit'
    mpi = f'case "$*" in *pmi2*) {reports};; esac\n'
    write_tool(tools, "srun", srun[0].partition("\n")[2] + mpi + srun[1] + srun[2])

    told = told_of_pair(Slugs.PAIR_NET_LATENCY, tmp_path / "nodes")
    done = run_attempt(tmp_path / "a", told, tools=tools)

    assert done.returncode == ExitCode.RAN, done.stderr
    assert links(tmp_path)["transport"] == "mpi"
    words = (tmp_path / "bin/asked").read_text()
    assert "--mpi=pmi2" in words
    assert "work mpi-ping-pong op=latency" in words


def test_gpu_memory_has_no_other_way_than_rdma(tmp_path: Path) -> None:
    code, _ = run(tmp_path, Slugs.PAIR_NET_BANDWIDTH_GPU)

    assert code == ExitCode.RAN  # the hub finds no link there
    assert links(tmp_path) == {"links": [], "lost": {}, "transport": "rdma"}


@pytest.mark.parametrize("exit_code", [0, 1])
def test_a_completion_error_is_a_finding_whatever_the_exit_code(
    tmp_path: Path, exit_code: int
) -> None:
    both(tmp_path, {"mlx5_0": {}})
    fault = f"cat {PERFTEST}/write_bw_failed_status_12.txt; exit {exit_code}"

    code, _ = run(tmp_path, Slugs.PAIR_NET_BANDWIDTH, "ib_write_bw", said=fault)

    report = tmp_path / "a/results/perftest/n1--n2--mlx5_0.1.txt"
    assert code == ExitCode.RAN
    assert "Failed status 12" in report.read_text()


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        (
            f"cat {PERFTEST}/use_cuda_unsupported_build.txt >&2; exit 1",
            "left no report (exit 1): /usr/bin/ib_write_bw: unrecognized option '--use_cuda=0'",
        ),
        ("exit 0", "left no report (exit 0): it said nothing"),
    ],
)
def test_a_tool_that_cannot_work_is_no_fault(tmp_path: Path, said: str, reason: str) -> None:
    both(tmp_path, {"mlx5_0": {}}, gpu_driver="nvidia")

    code, told = run(tmp_path, Slugs.PAIR_NET_BANDWIDTH_GPU, "ib_write_bw", said=said)

    assert code == ExitCode.CANNOT_RUN
    assert told["reason"] == f"ib_write_bw n1→n2 over mlx5_0:1 {reason}"


@pytest.mark.parametrize(
    ("slug", "needs"),
    [
        (Slugs.PAIR_NET_BANDWIDTH_GPU, "nvidia_peermem loaded"),
        (Slugs.PAIR_NET_BANDWIDTH, "memlock unlimited"),
    ],
)
def test_memory_that_no_card_may_read_is_no_slow_link(
    tmp_path: Path, slug: str, needs: str
) -> None:
    both(tmp_path, {"mlx5_0": {}}, gpu_driver="nvidia")
    said = "echo \"Couldn't allocate MR\" >&2; echo 'failed to create mr' >&2; exit 1"

    code, told = run(tmp_path, slug, "ib_write_bw", said=said)

    assert code == ExitCode.CANNOT_RUN
    assert "(Couldn't allocate MR)" in told["reason"]
    assert told["reason"].endswith(f"is {needs} there?")


def test_a_server_that_never_came_is_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(perftest, "CONNECT_S", 0.05)
    workspace = workspace_in(tmp_path)
    report = tmp_path / "report.txt"
    client = ["sh", "-c", 'sleep 0.2; echo "Couldn\'t connect to n2:18515" >&2; exit 1']

    done = perftest.measure(
        workspace, ["sh", "-c", "echo 'IB device mlx5_9 not found' >&2"], client, report=report
    )

    workspace.close()
    with pytest.raises(CannotRun, match="the server said: IB device mlx5_9 not found"):
        perftest.refuse_no_work(done, report, "ib_write_bw n1→n2")


def test_a_missing_tool_is_named(tmp_path: Path) -> None:
    both(tmp_path, {"mlx5_0": {"numa": -1}})

    code, told = run(tmp_path, Slugs.PAIR_NET_BANDWIDTH)

    assert code == ExitCode.CANNOT_RUN
    assert "ib_write_bw: not found" in told["reason"]


def test_a_client_that_comes_too_early_asks_again(tmp_path: Path) -> None:
    both(tmp_path, {"mlx5_0": {}})
    early = f'touch "$0.is-up"; [ -e "$0.asked" ] && {{ {DONE}; exit; }}; touch "$0.asked"'
    said = f"{early}; cat {PERFTEST}/couldnt_connect.txt >&2; exit 1"

    code, told = run(tmp_path, Slugs.PAIR_NET_BANDWIDTH, "ib_write_bw", said=said)

    assert code == ExitCode.RAN, told["reason"]
    assert len(asked(tmp_path)) == 5


def test_a_node_without_a_gpu_beside_its_card_is_named(tmp_path: Path) -> None:
    both(tmp_path, {"mlx5_0": {}})

    code, told = run(tmp_path, Slugs.PAIR_NET_LATENCY_GPU, "ib_send_lat")

    assert code == ExitCode.CANNOT_RUN
    assert told["reason"] == "n2 lists no GPU beside mlx5_0:1: is the GPU's driver loaded?"


def test_a_device_that_neither_has_is_no_fault(tmp_path: Path) -> None:
    both(tmp_path, NDR)

    code, told = run(tmp_path, Slugs.PAIR_NET_LATENCY, params={"devices": ["mlx5_7"]})

    assert code == ExitCode.CANNOT_RUN
    assert told["reason"] == "neither node has the RDMA device mlx5_7; they have mlx5_0, mlx5_1"


def test_ports_are_read_with_their_processor_their_address_and_their_gpu(tmp_path: Path) -> None:
    roce = {
        "ports/1/gids/0": "fe80:0000:0000:0000:0000:0000:0000:0001",
        "ports/1/gid_attrs/types/0": "RoCE v2",
        "ports/1/gids/3": "0000:0000:0000:0000:0000:ffff:0a00:0001",
        "ports/1/gid_attrs/types/3": "RoCE v2",
    }
    cards: dict[str, dict[str, Any]] = {
        "mlx5_0": {"link_layer": "Ethernet", "more": roce},
        "mlx5_1": {"rate": 100, "numa": 1},
    }
    node_with(tmp_path, cards, gpu_driver="nvidia")

    ports = ports_below(tmp_path)

    assert ports["mlx5_0:1"] == {
        "state": "ACTIVE",
        "rate": 400.0,
        "link_layer": "Ethernet",
        "gid_index": 3,
        "numa_node": 0,
        "gpu": ("nvidia", 1),
    }
    assert (ports["mlx5_1:1"]["gid_index"], ports["mlx5_1:1"]["gpu"]) == (None, ("nvidia", 0))


def test_an_active_port_whose_rate_cannot_be_read_is_no_slow_one(tmp_path: Path) -> None:
    both(tmp_path, {**NDR, "mlx5_2": {"rate": "?"}})

    code, told = run(tmp_path, Slugs.PAIR_NET_BANDWIDTH, "ib_write_bw")

    assert code == ExitCode.CANNOT_RUN
    assert told["reason"] == (
        "n1 does not say the rate of its active port mlx5_2:1: look at"
        " /sys/class/infiniband/mlx5_2/ports/1/rate there"
    )


def test_a_port_that_was_not_asked_for_needs_no_rate(tmp_path: Path) -> None:
    both(tmp_path, {**NDR, "mlx5_2": {"rate": "?"}})

    code, told = run(
        tmp_path, Slugs.PAIR_NET_BANDWIDTH, "ib_write_bw", params={"devices": ["mlx5_0"]}
    )

    assert code == ExitCode.RAN, told["reason"]


def test_a_card_between_processors_takes_a_gpu_of_its_own(tmp_path: Path) -> None:
    node_with(tmp_path, {"mlx5_0": {"numa": 1}})
    for number, numa in enumerate((0, 1)):
        gpu = tmp_path / f"sys/devices/pci0000:{0xA0 + number:02x}/0000:{0xA0 + number:02x}:00.0"
        gpu.mkdir(parents=True)
        (gpu / "numa_node").write_text(f"{numa}\n")
        listed = tmp_path / "sys/bus/pci/drivers/nvidia"
        listed.mkdir(parents=True, exist_ok=True)
        (listed / gpu.name).symlink_to(gpu)

    assert ports_below(tmp_path)["mlx5_0:1"]["gpu"] == ("nvidia", 1)


def port(state: str = "ACTIVE", rate: float = 400) -> dict[str, Any]:
    return {"state": state, "rate": rate}


@pytest.mark.parametrize(
    ("there", "why"),
    [
        ({"a:1": port("DOWN"), "b:1": port()}, "a:1 at n2 is DOWN, 400 Gb/s"),
        ({"b:1": port()}, "a:1 at n2 is not there"),
        ({"a:1": port(rate=200), "b:1": port()}, "a:1 at n2 is ACTIVE, 200 Gb/s"),
    ],
)
def test_a_link_that_only_one_end_has_is_lost(there: dict[str, Any], why: str) -> None:
    here = {"a:1": port(), "b:1": port(), "storage:1": port(rate=100)}

    found, lost = links_between(here, there, ends=("n1", "n2"), devices=())

    assert (found, lost) == (["b:1"], {"a:1": why})


def test_a_link_that_was_asked_for_and_is_down_at_both_ends_is_lost() -> None:
    down = {"a:1": port("DOWN"), "b:1": port()}

    found, lost = links_between(down, down, ends=("n1", "n2"), devices=["a"])

    assert (found, list(lost)) == ([], ["a:1"])


def test_a_client_that_hangs_is_ended_and_is_no_fault(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(perftest, "LONGEST_S", 0.05)
    workspace = workspace_in(tmp_path)
    report = tmp_path / "report.txt"

    done = perftest.measure(workspace, ["sleep", "60"], ["sleep", "60"], report=report)

    workspace.close()
    with pytest.raises(CannotRun, match=r"ib_write_bw hung and was ended after 0 s"):
        perftest.refuse_no_work(done, report, "ib_write_bw")
