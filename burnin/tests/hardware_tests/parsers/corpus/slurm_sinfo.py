from __future__ import annotations

from typing import Any

from burnin.slurm.parse_sinfo import SinfoReport
from burnin.tests.hardware_tests.parsers.corpus.comparison import Whole


def as_expected(report: SinfoReport) -> dict[str, Any]:
    states = dict.fromkeys(node.printed_state for node in report.nodes)
    return {
        "lines": report.lines,
        "distinct_nodes": len(report.nodes),
        "states": Whole(
            {
                state: [node.name for node in report.nodes if node.printed_state == state]
                for state in states
            }
        ),
        "down": [node.name for node in report.nodes if node.state == "down"],
        "drained": [node.name for node in report.nodes if node.is_drained],
        "partitions_down": list(report.partitions_down),
    }


def restd_as_expected(report: SinfoReport) -> dict[str, Any]:
    nodes = report.nodes
    return {
        "states": Whole({node.name: [node.printed_state, *node.flags] for node in nodes}),
        "usable": [node.name for node in nodes if node.is_usable],
        "drained": [node.name for node in nodes if node.is_drained],
    }
