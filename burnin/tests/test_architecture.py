"""The import contracts of pyproject.toml hold, and a planted violation breaks them by name."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from burnin.satellite.config import VERSION

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("burnin", "fleet", "runner")


def lint_imports(tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-cache"],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    copy = tmp_path_factory.mktemp("tree")
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, copy / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / "pyproject.toml", copy)
    return copy


@pytest.fixture
def plant(tree: Path) -> Iterator[object]:
    planted: list[Path] = []

    def write(where: str, text: str) -> None:
        path = tree / where
        planted.append(path)
        path.write_text(text)

    yield write
    for path in planted:
        path.unlink()


def imports_of(path: Path) -> set[str]:
    """Every module a file names in an import, `from a import b` also as `a.b`."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def test_the_tree_keeps_every_contract(tree: Path) -> None:
    assert lint_imports(tree).returncode == 0


VIOLATIONS = {
    "hub imports the runner": (
        "burnin/workflow/planted.py",
        "import runner.base\n",
        "The hub knows of the runner only its contract",
    ),
    "runner imports the hub": (
        "runner/planted.py",
        "import burnin.states\n",
        "The runner knows nothing of the hub",
    ),
    "a test imports Django": (
        "burnin/hardware_tests/planted.py",
        "from django.db import models\n",
        "Tests, Slurm and satellite need no Django",
    ),
    "a lower layer imports a higher one": (
        "burnin/slurm/planted.py",
        "import burnin.workflow.wiring\n",
        "burnin is layered",
    ),
    "tests and Slurm know each other": (
        "burnin/hardware_tests/planted.py",
        "import burnin.slurm.hostlist\n",
        "burnin is layered",
    ),
    "a command picks an adapter": (
        "burnin/management/planted.py",
        "import burnin.slurm.shell\n",
        "Only wiring and the site's configuration pick real adapters",
    ),
    "a package is placed nowhere": (
        "burnin/planted.py",
        "",
        "burnin is layered",
    ),
}


@pytest.mark.parametrize("violation", VIOLATIONS)
def test_a_planted_violation_breaks_its_contract_by_name(
    tree: Path, plant: object, violation: str
) -> None:
    where, text, contract = VIOLATIONS[violation]
    assert callable(plant)
    plant(where, text)

    result = lint_imports(tree)

    broken = [line for line in result.stdout.splitlines() if line.endswith("BROKEN")]
    assert result.returncode != 0
    assert broken == [f"{contract} BROKEN"] or "planted" in result.stdout


def test_no_hub_file_names_a_runner_module_but_the_contract() -> None:
    offenders = {
        f"{path.relative_to(ROOT)}: {name}"
        for package in ("burnin", "fleet")
        for path in (ROOT / package).rglob("*.py")
        for name in imports_of(path)
        if name.split(".")[0] == "runner" and name.split(".")[:2] != ["runner", "contract"]
    }

    assert offenders - {f"{Path(__file__).relative_to(ROOT)}: runner"} == set()


def test_the_contract_forbids_every_module_of_the_runner() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    listed = {
        module
        for contract in contracts["contracts"]
        if contract["name"] == "The hub knows of the runner only its contract"
        for module in contract["forbidden_modules"]
    }

    there = {
        f"runner.{path.stem}"
        for path in (ROOT / "runner").iterdir()
        if path.suffix == ".py" or (path / "__init__.py").exists()
    } - {"runner.__init__", "runner.contract", "runner.tests"}

    assert there == listed


def test_the_readme_names_every_part_of_burnin() -> None:
    readme = (ROOT / "burnin" / "README.md").read_text()
    rows = [line.split("|")[1] for line in readme.splitlines() if line.startswith("| `")]
    named = [name for row in rows for name in re.findall(r"`([^`]+)`", row)]
    aside = {"__init__.py", "__pycache__", "README.md"}
    there = {
        f"{path.name}/" if path.is_dir() else path.name
        for path in (ROOT / "burnin").iterdir()
        if path.name not in aside
    }

    assert sorted(named) == sorted(there)


def test_the_satellite_says_the_version_of_this_release() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    assert project["version"] == VERSION
