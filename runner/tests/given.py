"""What tests of the runner start from: contexts, workspaces, fake tools, whole runs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from runner.contract.slugs import Slugs
from runner.contract.wire import SCHEMA
from runner.workspace import WorkspaceManager

REPOSITORY = Path(__file__).parents[2]
RUN_ID = "0b5b0a0e-1111-4222-8333-444455556666"


def context_told(**changes: Any) -> dict[str, Any]:
    """Return what the hub would send for one hello-world, with changes."""
    return {
        "schema": SCHEMA,
        "run_id": RUN_ID,
        "attempt": 1,
        "slug": Slugs.HELLO_WORLD,
        "params": {},
        "node_names": [],
        "num_nodes": 1,
        "time_limit_s": 600,
        "iterations": 1,
        "facts_root": "/",
        "uploads": {},
        **changes,
    }


def workspace_in(directory: Path) -> WorkspaceManager:
    return WorkspaceManager(directory, node_name="n1")


def write_tool(directory: Path, name: str, script: str) -> Path:
    """Write an executable shell script and return it."""
    directory.mkdir(parents=True, exist_ok=True)
    tool = directory / name
    tool.write_text(f"#!/bin/sh\n{script}\n")
    tool.chmod(0o755)
    return tool


def runner_command(workspace: Path, told: Mapping[str, Any]) -> list[str]:
    """Return how a node would start this run, from source."""
    run = ["run", str(told["slug"]), "--workspace", str(workspace)]
    return [sys.executable, "-S", "-m", "runner", *run, "--config-json", json.dumps(told)]


def environment_of_node(tools: Path | None = None, **changes: str) -> dict[str, str]:
    """Return an environment in which `tools` come first, and nothing says Slurm."""
    path = f"{tools}:{os.environ['PATH']}" if tools else os.environ["PATH"]
    kept = {name: value for name, value in os.environ.items() if not name.startswith("SLURM")}
    return {**kept, "PATH": path, "PYTHONPATH": str(REPOSITORY), **changes}


def run_attempt(
    workspace: Path,
    told: Mapping[str, Any],
    *,
    tools: Path | None = None,
    env: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run one attempt to its end, as a process of its own."""
    return subprocess.run(
        runner_command(workspace, told),
        env=environment_of_node(tools, **(env or {})),
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def longer_and_longer(first_s: float) -> Iterator[float]:
    """Yield times to try in turn, for what must get somewhere before its time is up.

    A test stays quick on an idle machine and goes on trying on a busy one.
    """
    for factor in (1, 5, 25, 100):
        yield first_s * factor


def metadata_of(workspace: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((workspace / "metadata.json").read_text())
    return found


def is_gone(pid: int) -> bool:
    """Wait for a killed process to be gone, as a kill takes effect a moment later."""
    until = time.monotonic() + 5
    while _runs(pid):
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


def _runs(pid: int) -> bool:
    """Say whether the process runs; one that only waits to be reaped does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
