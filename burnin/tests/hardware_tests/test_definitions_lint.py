"""What definitions must not do, found in their source."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import burnin.hardware_tests

PACKAGE = Path(burnin.hardware_tests.__path__[0])
DEFINITIONS = sorted(
    path
    for stage in ("single_node", "multi_node", "pairwise")
    for path in PACKAGE.glob(f"{stage}/*.py")
)
EVERYTHING = sorted(PACKAGE.parent.rglob("*.py"))


def reads_of_context_nodes(source: str) -> list[int]:
    """Lines that read `.nodes` of anything: with a nodelist it is 1, whatever the list's length."""
    tree = ast.parse(source)
    return [
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr == "nodes"
    ]


def hand_made_entries(source: str) -> Iterator[int]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            called = node.func
            name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            if name == "TestMetricEvaluation":
                yield node.lineno


@pytest.mark.parametrize("path", DEFINITIONS, ids=lambda path: path.stem)
def test_no_definition_reads_context_nodes(path: Path) -> None:
    assert reads_of_context_nodes(path.read_text()) == [], "use context.num_nodes"


def test_a_planted_context_nodes_is_found() -> None:
    planted = "def make_batch_config(self, context):\n    return context.nodes\n"

    assert reads_of_context_nodes(planted) == [2]
    assert reads_of_context_nodes(planted.replace("context.nodes", "context.num_nodes")) == []


@pytest.mark.parametrize("path", EVERYTHING, ids=lambda path: path.stem)
def test_only_pass_and_fail_make_an_entry(path: Path) -> None:
    allowed = 2 if path == PACKAGE / "evaluation.py" else 0

    assert len(list(hand_made_entries(path.read_text()))) == allowed
