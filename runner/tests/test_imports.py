"""The runner is standard library and itself: a node has nothing else."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runner.contract.wire import ExitCode

RUNNER = Path(__file__).parents[1]
BEFORE_THE_WORKLOAD = (
    "cli", "attempt", "workspace", "process", "facts", "context", "claim", "upload", "http_put"
)  # fmt: skip
MODULES = sorted(
    path for path in RUNNER.rglob("*.py") if "tests" not in path.relative_to(RUNNER).parts
)


def imported_names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "."


def foreign(source: str) -> list[str]:
    allowed = sys.stdlib_module_names | {"runner"}
    names = imported_names(ast.parse(source))
    return [name for name in names if name.partition(".")[0] not in allowed]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(RUNNER)))
def test_the_runner_imports_only_the_standard_library_and_itself(module: Path) -> None:
    assert foreign(module.read_text()) == []


def test_a_third_party_import_would_be_found_wherever_it_stands() -> None:
    assert foreign("def f():\n    import pydantic.main\n    from burnin import x\n") == [
        "pydantic.main",
        "burnin",
    ]


@pytest.mark.parametrize("module", MODULES, ids=lambda path: str(path.relative_to(RUNNER)))
def test_every_module_is_python_3_8(module: Path) -> None:
    ast.parse(module.read_text(), feature_version=(3, 8))


def test_the_entry_is_understood_by_old_pythons_and_ends_with_the_contracts_code() -> None:
    source = (RUNNER / "__main__.py").read_text()

    ast.parse(source, feature_version=(3, 4))
    assert "__future__" not in source
    assert f"sys.exit({ExitCode.OLD_PYTHON})" in source


def test_nothing_heavy_is_loaded_before_the_workload() -> None:
    heavy = {"asyncio", "typing", "dataclasses", "argparse", "subprocess", "ssl", "tarfile"}
    loaded = {
        name
        for module in BEFORE_THE_WORKLOAD
        for name in top_level_imports(RUNNER / f"{module}.py")
    }

    assert loaded & (heavy | {"hashlib", "http", "threading", "runner.packing"}) == set()


def top_level_imports(module: Path) -> Iterator[str]:
    for node in ast.parse(module.read_text()).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or "."
