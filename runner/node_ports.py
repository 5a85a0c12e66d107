"""Asks every node of a job for its RDMA ports, and leaves what they said."""

from __future__ import annotations

import json

from runner.endings import CannotRun
from runner.multi_node import why_no_report, workers
from runner.workers.names import RDMA_PORTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any

    from runner.contract.wire import ExecutionContext
    from runner.process import CommandResult
    from runner.workspace import WorkspaceManager


def ports_of_nodes(
    context: ExecutionContext, workspace_manager: WorkspaceManager
) -> dict[str, dict[str, Any]]:
    """Leave rdma/<node>.json and return the ports of each node of the job.

    Raises CannotRun where a node did not answer.
    """
    done, results = leave_ports(context, workspace_manager)
    said = {path.stem: json.loads(path.read_text()) for path in sorted(results.glob("*.json"))}
    if len(said) != context.num_nodes:
        raise CannotRun(why_no_report(done, f"{context.num_nodes - len(said)} nodes' RDMA ports"))
    return said


def leave_ports(
    context: ExecutionContext, workspace_manager: WorkspaceManager
) -> tuple[CommandResult, Path]:
    """Leave rdma/<node>.json of each node that answers, and return their directory."""
    results = workspace_manager.get_custom_artifact_path("rdma/place").parent
    told = [f"root={context.facts_root}", f"results={results}"]
    return workspace_manager.run_command(workers(context, RDMA_PORTS, *told)), results
