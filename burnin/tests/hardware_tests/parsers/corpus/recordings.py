"""Recorded tool outputs, each beside a note of what a parser must find in it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SHIPPED = Path(__file__).resolve().parents[5] / "fixtures" / "corpus"
WHOLE_CORPUS_VARIABLE = "CORPUS_DIR"
NOTE = ".meta.json"

# In Slurm's folder the beginning of a file's name says which command printed it.
SLURM_FOLDER = "slurm"
SLURM_TOOLS: Mapping[str, str] = {
    "hostlist": "slurm-hostlist",
    "restd": "slurm-restd",
    "sacct": "slurm-sacct",
    "scontrol_job": "slurm-scontrol-job",
    "scontrol_o_show_node": "slurm-scontrol-node",
    "sinfo": "slurm-sinfo",
    "squeue": "slurm-squeue",
}


@dataclass(frozen=True)
class Recording:
    path: Path
    origin: str
    kind: str
    expected: dict[str, Any] | None
    expected_error: dict[str, Any] | None

    @property
    def tool(self) -> str:
        folder = self.path.parent.name
        if folder != SLURM_FOLDER:
            return folder
        return next(
            tool for prefix, tool in SLURM_TOOLS.items() if self.path.name.startswith(prefix)
        )

    @property
    def text(self) -> str:
        """What the tool wrote, carriage returns included, read as the product reads it."""
        return self.path.read_bytes().decode(errors="replace")

    def __str__(self) -> str:
        return f"{self.origin}:{self.path.parent.name}/{self.path.name}"


def whole_corpus() -> Path | None:
    """Return the folder that CORPUS_DIR names, there or not; None if it names none."""
    named = os.environ.get(WHOLE_CORPUS_VARIABLE)
    return Path(named) if named else None


def recordings_in(root: Path, origin: str) -> list[Recording]:
    """Return the recordings of a folder in the order of their names; none if it is not there."""
    return [_recording(note, origin) for note in sorted(root.glob(f"*/*{NOTE}"))]


def all_recordings() -> list[Recording]:
    """Return what is shipped, and what lies in the whole corpus where there is one."""
    whole = whole_corpus()
    return [
        *recordings_in(SHIPPED, "shipped"),
        *(recordings_in(whole, "corpus") if whole else []),
    ]


def files_in(root: Path) -> list[Path]:
    """Return the files of a folder that should each have a note."""
    return sorted(path for path in root.glob("*/*") if not path.name.endswith(NOTE))


def _recording(note: Path, origin: str) -> Recording:
    found = json.loads(note.read_text())
    return Recording(
        path=note.with_name(note.name.removesuffix(NOTE)),
        origin=origin,
        kind=found["kind"],
        expected=found.get("expected"),
        expected_error=found.get("expected_error"),
    )
