"""Equal names for equal recipes, another one for whatever moves the right threshold."""

from typing import Any

import pytest

from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.fingerprint import fingerprint_of
from burnin.tests.hardware_tests.toy import Toy


def recipe(**changes: Any) -> type[BaseTest]:
    pieces = {"recipe_version": 1, "fixed_knobs": {"size": 1}, "fingerprint_tools": ("fio",)}
    return type("Recipe", (Toy,), {**pieces, **changes})


def stamp(test: type[BaseTest], **changes: Any) -> str | None:
    given: dict[str, Any] = {"tools": {"fio": "fio-3.33", "other": "1"}, "num_nodes": 1}
    return fingerprint_of(test, **{**given, **changes})


def test_the_same_recipe_has_the_same_fingerprint() -> None:
    assert stamp(recipe()) == stamp(recipe()) is not None


def test_a_fingerprint_never_changes_by_itself() -> None:
    assert stamp(recipe()) == "7679b5a17d448111"


@pytest.mark.parametrize(
    "changes",
    [
        {"recipe_version": 2},
        {"fixed_knobs": {"size": 2}},
        {"fixed_knobs": {"size": 1, "depth": 4}},
        {"slug": "single-node.other"},
    ],
)
def test_another_recipe_has_another_fingerprint(changes: dict[str, Any]) -> None:
    assert stamp(recipe(**changes)) != stamp(recipe())


@pytest.mark.parametrize(
    "changes", [{"num_nodes": 2}, {"tools": {"fio": "fio-3.34"}}, {"container_digest": "sha256:1"}]
)
def test_another_tool_container_or_node_count_has_another_fingerprint(
    changes: dict[str, Any],
) -> None:
    assert stamp(recipe(), **changes) != stamp(recipe())


def test_a_tool_that_does_not_matter_changes_nothing() -> None:
    assert stamp(recipe(), tools={"fio": "fio-3.33", "other": "2"}) == stamp(recipe())


@pytest.mark.parametrize("tools", [{}, {"fio": ""}])
def test_a_tool_without_a_version_has_no_fingerprint(tools: dict[str, str]) -> None:
    assert stamp(recipe(), tools=tools) is None
