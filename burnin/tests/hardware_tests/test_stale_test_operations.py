"""What makes evidence stale: every test is covered, and the file is what it says."""

from pathlib import Path

import pytest

from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.registry import list_all_tests
from burnin.hardware_tests.stale_operations import (
    BadStaleOperations,
    load_stale_operations,
    operations_that_stale,
)

GOOD = """\
operations:
  node-swap:
    means: Another machine.
    stales: [single-node.hello-world]
"""


@pytest.mark.parametrize("test", list_all_tests(), ids=lambda test: test.slug)
def test_some_operation_makes_each_tests_evidence_stale(test: type[BaseTest]) -> None:
    assert operations_that_stale(test.slug, load_stale_operations())


@pytest.mark.parametrize("test", list_all_tests(), ids=lambda test: test.slug)
def test_another_machine_makes_everything_stale(test: type[BaseTest]) -> None:
    assert "node-swap" in operations_that_stale(test.slug, load_stale_operations())


@pytest.mark.parametrize(
    ("slug", "operation", "stale"),
    [
        ("single-node.memory-stress", "dimm-swap", True),
        ("single-node.memory-stress", "disk-swap", False),
        ("single-node.storage", "disk-swap", True),
        ("single-node.storage", "power-cycle", False),
        ("single-node.node-health", "power-cycle", True),
        ("single-node.node-health", "switch-or-optic-swap", False),
        ("single-node.hello-world", "os-reimage", True),
    ],
)
def test_an_operation_spoils_what_the_part_took_part_in(
    slug: str, operation: str, stale: bool
) -> None:
    assert (operation in operations_that_stale(slug, load_stale_operations())) is stale


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("single-node.hello-world", "single-node.hullo", ":4: node-swap names 'single-node.hullo'"),
        ("    means: Another machine.\n", "", ":2: node-swap needs 'means' and 'stales'"),
        ("Another machine.", "''", ":2: node-swap must say what it means in words"),
        ("[single-node.hello-world]", "single-node.hello-world", ":2: the 'stales' of node-swap"),
        ("operations:", "operation:", ":1: must hold one mapping, 'operations'"),
        ("    stales", "    means: x\n    stales", ":4: 'means' already stands in line 3"),
    ],
)
def test_a_slip_in_the_file_is_refused_with_its_line(
    tmp_path: Path, old: str, new: str, sentence: str
) -> None:
    path = tmp_path / "stale.yaml"
    path.write_text(GOOD.replace(old, new, 1))

    with pytest.raises(BadStaleOperations) as refused:
        load_stale_operations(path)

    assert str(refused.value).startswith(f"stale.yaml{sentence}")
