"""Every test here has a directory of its own for what a hub writes. Databases: see /conftest.py."""

from pathlib import Path

import pytest
from pytest_django import Settings


@pytest.fixture(autouse=True)
def own_var_dir(settings: Settings, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path / "var"
