"""A node with eight GPUs, as its batch script and Slurm describe it; its tools are stand-ins."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from runner.base import BaseRunner
from runner.contract.wire import ExecutionContext
from runner.endings import CannotRun
from runner.tests.given import REPOSITORY, workspace_in, write_tool
from runner.workspace import WorkspaceManager

PRINTED = REPOSITORY / "fixtures"
EIGHT = {
    "SLURM_GPUS_ON_NODE": "8",
    "BURN_IN_RESOURCE_CLASS": "h100-sxm5-8x",
    "BURN_IN_GPU_MAKER": "NVIDIA",
}
IMAGE = "/shared/images/tool.sqsh"
CONTAINED = {**EIGHT, "BURN_IN_CONTAINER": IMAGE}
ONE_TASK = ["srun", "--nodes=1", "--ntasks=1", "--ntasks-per-node=1", "--kill-on-bad-exit=1"]
IN_IMAGE = [f"--container-image={IMAGE}", "--no-container-mount-home"]

# What Slurm gives a node of each class, and what its batch script says of it.
NODES = {
    "a100-sxm4-80g-8x": 8,
    "h100-sxm5-8x": 8,
    "h200-8x": 8,
    "b200-8x": 8,
    "gb200-nvl72": 4,
    "mi300x-8x": 8,
    "l40s-8x": 8,
}


def node_of(resource_class: str) -> dict[str, str]:
    count = str(NODES[resource_class])
    return {
        "SLURM_GPUS_ON_NODE": count,
        "BURN_IN_RESOURCE_CLASS": resource_class,
        "BURN_IN_GPU_MAKER": "AMD" if resource_class == "mi300x-8x" else "NVIDIA",
    }


def printing(directory: Path, tool: str, printed: str, *, exit_code: int = 0) -> Path:
    """Write a stand-in that prints a file below fixtures/, and return its directory."""
    write_tool(directory, tool, f"cat {PRINTED / printed}; exit {exit_code}")
    return directory


@dataclass(frozen=True)
class Ran:
    """What one iteration left behind; `refusal` is why it could not run, if it could not."""

    workspace: WorkspaceManager
    refusal: str

    @property
    def argv(self) -> list[str]:
        return self.workspace.commands[-1].argv

    @property
    def exit_code(self) -> int:
        return self.workspace.commands[-1].exit_code

    def text(self, name: str) -> str:
        return self.workspace.get_custom_artifact_path(name).read_text()


def run_here(
    executor: type[BaseRunner],
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    told: Mapping[str, Any],
    node: Mapping[str, str],
    **printed: str,
) -> Ran:
    """Run one iteration in this process; for each tool a stand-in prints a file of fixtures/."""
    for tool, file in printed.items():
        printing(directory / "bin", tool, file)
    monkeypatch.setenv("PATH", f"{directory / 'bin'}:{os.environ['PATH']}")
    for name, value in node.items():
        monkeypatch.setenv(name, value)
    (directory / "attempt").mkdir()
    workspace = workspace_in(directory / "attempt")
    given = {name: told[name] for name in ExecutionContext.__slots__}
    try:
        executor().execute(ExecutionContext(**given), workspace)
    except CannotRun as error:
        return Ran(workspace, str(error))
    finally:
        workspace.close()
    return Ran(workspace, "")
