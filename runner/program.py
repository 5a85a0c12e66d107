"""How this very program is started again: on every node of a job, or as one of its workers."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def bundle() -> Path | None:
    """Return the zip file we run from, or None when we run from source."""
    home = Path(__file__).absolute().parent.parent
    return home if home.is_file() else None


def this_program() -> tuple[str, ...]:
    file = bundle()
    return (sys.executable, "-I", "-S", str(file)) if file else (sys.executable, "-m", "runner")


def program_for_launcher() -> tuple[str, ...]:
    """Return this program as a launcher with a Python of its own is told it."""
    file = bundle()
    return (str(file),) if file else ("-m", "runner")


def mounted_for(directory: Path) -> str:
    """Return the one directory that holds this program and `directory`, for a container."""
    home = bundle() or Path(__file__).absolute().parent.parent
    return os.path.commonpath([home, directory])
