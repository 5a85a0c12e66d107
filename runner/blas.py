"""Which BLAS a program computes with: the same program is ten times slower with another."""

from __future__ import annotations

import os
from pathlib import Path

from runner.endings import CannotRun
from runner.process import find_executable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from runner.workspace import WorkspaceManager

_KINDS = ("blas", "blis", "mkl", "atlas", "armpl", "nvpl")
_INTERFACE = "libblas.so"  # calls an optimised one; loaded alone it is the reference


def blas_of(workspace_manager: WorkspaceManager, tool: str) -> str:
    """Return the files of the BLAS that the tool loads; "" if it brings its own.

    Raises CannotRun for the reference BLAS: its speed says nothing of the CPU's.
    """
    path = os.environ.get("PATH", os.defpath)
    executable = find_executable(tool, path=path, node_name=workspace_manager.node_name)
    shown = workspace_manager.get_custom_artifact_path("ldd.txt")
    workspace_manager.run_command(["ldd", executable], timeout_s=60, capture_to=shown)
    found = blas_in(shown.read_text(encoding="utf-8", errors="replace"))
    optimised = [name for name in found if not name.startswith(_INTERFACE)]
    if found and not optimised:
        raise CannotRun(
            f"{tool} loads {found[0]} and no other BLAS on {workspace_manager.node_name}: that is"
            " the reference BLAS, which is ten times slower than the CPU; install an optimised"
            " one (Debian: libopenblas0-pthread)"
        )
    return " ".join(optimised)


def blas_in(ldd: str) -> list[str]:
    """Return the names behind the links of those libraries that are part of a BLAS."""
    rows = [line.split() for line in ldd.splitlines()]
    loaded = [Path(row[2]) for row in rows if len(row) > 2 and row[1] == "=>"]
    mine = [path for path in loaded if any(kind in path.name for kind in _KINDS)]
    return sorted({path.resolve().name for path in mine})
