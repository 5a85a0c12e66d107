"""The rounds of an iperf matrix, and what its workers do, with stand-ins for srun and iperf3."""

from __future__ import annotations

import json
import socket
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from runner.contract.slugs import Slugs
from runner.contract.wire import ExitCode
from runner.executors.iperf_matrix import rounds
from runner.tests.given import context_told, metadata_of, run_attempt, write_tool
from runner.workers import iperf_round

NODES = r"""echo 'NodeName=n1 NodeAddr=10.0.0.1 State=IDLE'
echo 'NodeName=n2 NodeAddr=10.0.0.2 State=IDLE'"""
FACTS = r"""case "$*" in
*facts*) echo '{"rank": 0, "node_name": "n1"}'; echo '{"rank": 1, "node_name": "n2"}'; exit 0;;
esac
for word; do echo "$word" >> "$(dirname "$0")/asked"; done
"""


@pytest.mark.parametrize("count", [2, 3, 4, 7, 8])
def test_each_ordered_pair_meets_once_and_no_node_is_in_two_pairs(count: int) -> None:
    names = [f"n{number}" for number in range(count)]

    played = list(rounds(names))

    assert sorted(pair for pairs in played for pair in pairs) == sorted(permutations(names, 2))
    for pairs in played:
        ends = [name for pair in pairs for name in pair]
        assert len(ends) == len(set(ends))


def run(tmp_path: Path, srun: str, scontrol: str = NODES) -> tuple[int, dict[str, Any]]:
    write_tool(tmp_path / "bin", "srun", FACTS + srun)
    write_tool(tmp_path / "bin", "scontrol", scontrol)
    params = {"duration_s": 1}
    told = context_told(slug=Slugs.IPERF_MATRIX, num_nodes=2, node_names=["n1"], params=params)
    done = run_attempt(tmp_path / "a", told, tools=tmp_path / "bin")
    return done.returncode, metadata_of(tmp_path / "a")


def test_every_round_is_one_step_over_all_nodes(tmp_path: Path) -> None:
    srun = """for word; do case $word in
results=*) results=${word#results=};;
pairs=*) ends=${word#pairs=}; ends=${ends%@*}; echo "{}" > "$results/${ends%>*}--${ends#*>}.json";;
esac; done"""

    code, _ = run(tmp_path, srun)

    pairs = [w for w in (tmp_path / "bin/asked").read_text().split() if w.startswith("pairs=")]
    assert code == ExitCode.RAN
    assert pairs == ["pairs=n1>n2@10.0.0.2:5202", "pairs=n2>n1@10.0.0.1:5201"]


def test_a_node_that_left_no_report_is_named(tmp_path: Path) -> None:
    code, said = run(tmp_path, 'echo "n1: iperf3 is not installed" >&2; exit 3')

    assert code == ExitCode.CANNOT_RUN
    assert said["reason"] == (
        "1 of a round's pairs (n1→n2) left no report (exit 3): n1: iperf3 is not installed"
    )


def test_nodes_that_slurm_does_not_name_stop_the_run(tmp_path: Path) -> None:
    code, said = run(tmp_path, "", scontrol="echo 'Node n1 not found' >&2; exit 1")

    assert code == ExitCode.CANNOT_RUN
    assert said["reason"] == "scontrol names 0 nodes of this job: Node n1 not found"


def worker(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, node: str, place: str) -> int:
    monkeypatch.setenv("SLURMD_NODENAME", node)
    return iperf_round.main(["duration_s=1", f"results={tmp_path}", f"pairs=n1>n2@{place}"])


def test_the_real_tools_error_is_the_report_of_a_peer_that_never_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(iperf_round, "CONNECT_S", 0.0)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and never listens
        code = worker(monkeypatch, tmp_path, "n1", f"127.0.0.1:{taken.getsockname()[1]}")

    report = json.loads((tmp_path / "n1--n2.json").read_text())
    assert code == 0
    assert report["error"] == "unable to connect to server: Connection refused"


def test_a_client_that_hangs_is_ended_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tool(tmp_path / "bin", "iperf3", "exec sleep 60")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    monkeypatch.setattr(iperf_round, "SETTLE_S", -0.9)

    worker(monkeypatch, tmp_path, "n1", "127.0.0.1:1")

    report = json.loads((tmp_path / "n1--n2.json").read_text())
    assert report["error"].startswith("it hung and was ended")


def test_a_server_whom_nobody_asks_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tool(tmp_path / "bin", "iperf3", "exec sleep 60")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=":")
    monkeypatch.setattr(iperf_round, "SETTLE_S", -10.9)

    assert worker(monkeypatch, tmp_path, "n2", "127.0.0.1:1") == 0


def test_a_node_without_iperf3_says_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    assert worker(monkeypatch, tmp_path, "n1", "127.0.0.1:1") == iperf_round.NO_IPERF
    assert capsys.readouterr().err == "n1: iperf3 is not installed\n"
