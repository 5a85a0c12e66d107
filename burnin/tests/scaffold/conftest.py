"""A copy of the source tree to write new tests into, and commands that run in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from burnin.management.scaffold.new_test import DIRECTORIES, EDITED

ROOT = Path(__file__).resolve().parents[3]
LEFT_OUT = (".*", "build", "var")
NEEDED = (*EDITED, "pyproject.toml", "fixtures/sbatch")

InTree = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def small_tree(tmp_path: Path) -> Path:
    """What a new test is written into, and nothing that would run it."""
    copy = tmp_path / "small-tree"
    for name in NEEDED:
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        copying = shutil.copytree if (ROOT / name).is_dir() else shutil.copyfile
        copying(ROOT / name, copy / name)
    for name in DIRECTORIES:
        (copy / name).mkdir(parents=True)
    return copy


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    copy = tmp_path / "tree"
    shutil.copytree(ROOT, copy, ignore=shutil.ignore_patterns(*LEFT_OUT))
    (copy / ".venv").symlink_to(sys.prefix)
    return copy


@pytest.fixture
def in_tree(tree: Path, tmp_path: Path) -> InTree:
    """Run a command in the tree, on its code and on nothing of this session."""

    def run(*argv: str, **env: str) -> subprocess.CompletedProcess[str]:
        own = {
            "FLEET_VAR_DIR": str(tmp_path / "var"),
            "PYTHONPATH": str(tree),
            "FM_TEST_DATABASES": "sqlite",
            "FM_TEST_MIGRATE": "no",
        }
        left_out = ("PYTEST", "PYTHONDONTWRITEBYTECODE")  # the second command should be faster
        kept = {name: value for name, value in os.environ.items() if not name.startswith(left_out)}
        return subprocess.run(
            argv,
            cwd=tree,
            env={**kept, **own, **env},
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )

    return run
