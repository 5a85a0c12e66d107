from __future__ import annotations

import json
from typing import Any

import pytest

from burnin.slurm import parse_sinfo
from burnin.slurm.parse_sinfo import SinfoNode
from burnin.slurm.refusal import SlurmRefusalKind
from burnin.tests.slurm.refusals import refusal_of

TABLE = "PARTITION AVAIL  TIMELIMIT  NODES  STATE NODELIST\n"
ROWS = "NODELIST|STATE|REASON\n"


def test_a_node_of_several_partitions_is_one_node() -> None:
    report = parse_sinfo.parse(ROWS + "n1|idle|none\nn1|idle|none\nn2|drained*|bad | fan\n")

    assert report.lines == 3
    assert [(node.name, node.reason) for node in report.nodes] == [("n1", ""), ("n2", "bad | fan")]
    assert report.nodes[1].is_drained and report.nodes[1].state == "drained"


def test_a_node_in_two_states_is_refused() -> None:
    refused = refusal_of(parse_sinfo.parse, ROWS + "n1|idle|none\nn1|down|x\n")

    assert refused.reason == "sinfo shows n1 in two states"


def test_a_state_without_nodes_is_a_row_without_a_list() -> None:
    report = parse_sinfo.parse(TABLE + "main*  up  infinite  0  n/a\n".replace("n/a", "idle"))

    assert (report.lines, report.nodes) == (1, ())


def test_a_partition_that_is_not_up_is_named_without_its_star() -> None:
    report = parse_sinfo.parse(TABLE + "main*  inact  infinite  1  idle n1\n")

    assert report.partitions_down == ("main",)


@pytest.mark.parametrize("header", ["", "HOSTNAMES STATE\n"])
def test_another_header_is_refused(header: str) -> None:
    assert refusal_of(parse_sinfo.parse, header + "n1 idle\n").kind is SlurmRefusalKind.MALFORMED


def restd_node(**changes: Any) -> SinfoNode:
    node = {"name": "n1", "state": "idle", "state_flags": [], "reason": "", **changes}
    [found] = parse_sinfo.restd(json.dumps({"nodes": [node]})).nodes
    return found


def test_an_idle_node_is_usable() -> None:
    assert restd_node().is_usable


@pytest.mark.parametrize(
    "changes",
    [
        {"state_flags": ["DRAIN"]},
        {"state_flags": ["NOT_RESPONDING"]},
        {"state": ["IDLE", "DRAIN"]},
        {"state": "down"},
        {"state": "unheard_of"},
    ],
)
def test_a_node_with_any_doubt_is_not_usable(changes: dict[str, Any]) -> None:
    assert not restd_node(**changes).is_usable


def test_no_node_is_no_answer() -> None:
    assert refusal_of(parse_sinfo.restd, '{"nodes": []}').reason == "slurmrestd lists no node"
