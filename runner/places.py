"""Where the nodes of a job are reached."""

from __future__ import annotations

import os

from runner.endings import CannotRun

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.workspace import WorkspaceManager

ASK_S = 30


def places_of_nodes(workspace_manager: WorkspaceManager, *, first_port: int) -> dict[str, str]:
    """Return "address:port" by node, as Slurm itself reaches them.

    A port for each node: nodes may share an address.
    """
    listing = workspace_manager.directory / "nodes.txt"
    done = workspace_manager.run_command(
        ["scontrol", "--oneliner", "show", "node", os.environ.get("SLURM_JOB_NODELIST", "")],
        timeout_s=ASK_S,
        capture_to=listing,
    )
    lines = listing.read_text(encoding="utf-8", errors="replace").splitlines()
    told = [dict(word.split("=", 1) for word in line.split() if "=" in word) for line in lines]
    nodes = [words for words in told if "NodeName" in words]
    if len(nodes) < 2:
        raise CannotRun(f"scontrol names {len(nodes)} nodes of this job: {done.stderr_tail}")
    return {
        words["NodeName"]: f"{words.get('NodeAddr', words['NodeName'])}:{port}"
        for port, words in enumerate(nodes, start=first_port)
    }
