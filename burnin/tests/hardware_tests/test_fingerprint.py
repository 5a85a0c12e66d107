"""Equal names for equal recipes, another one for whatever moves the right threshold."""

from pathlib import Path
from typing import Any

import pytest

from burnin.hardware_tests.artifacts import open_artifacts
from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.fingerprint import digest_of, fingerprint_of
from burnin.hardware_tests.single_node.hello_world import HelloWorld
from burnin.tests.attempts import TOKEN, write_attempt
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


def test_an_image_is_known_by_its_digest_else_by_its_reference() -> None:
    digest = f"sha256:{'ab' * 32}"

    assert digest_of(f"docker://nvcr.io/nvidia/hpc@{digest}") == digest
    assert digest_of("/images/nccl-tests-2.21.sqsh") == "/images/nccl-tests-2.21.sqsh"
    assert digest_of("") == ""


def test_another_image_makes_a_measurement_one_of_another_fingerprint(tmp_path: Path) -> None:
    stamps: set[str | None] = set()
    for image in ("", "/images/a.sqsh", "/images/b.sqsh"):
        place = write_attempt(tmp_path / str(len(stamps)), container=image)
        with open_artifacts(place, TOKEN) as collector:
            stamps.add(HelloWorld().measure(collector).fingerprint)

    assert len(stamps) == 3


def test_a_tool_that_does_not_matter_changes_nothing() -> None:
    assert stamp(recipe(), tools={"fio": "fio-3.33", "other": "2"}) == stamp(recipe())


@pytest.mark.parametrize("tools", [{}, {"fio": ""}])
def test_a_tool_without_a_version_has_no_fingerprint(tools: dict[str, str]) -> None:
    assert stamp(recipe(), tools=tools) is None
