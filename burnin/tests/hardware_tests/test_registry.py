"""Slugs: found, or refused with what comes near."""

import pytest

from burnin.hardware_tests.registry import (
    ConfusingSlugs,
    UnknownSlug,
    get_test_class,
    list_all_tests,
    refuse_confusing_slugs,
)
from burnin.hardware_tests.single_node.hello_world import HelloWorld


def test_a_test_is_found_by_its_slug() -> None:
    assert get_test_class("single-node.hello-world") is HelloWorld
    assert HelloWorld in list_all_tests()


def test_an_unknown_slug_is_refused_with_its_near_matches() -> None:
    with pytest.raises(UnknownSlug) as refused:
        get_test_class("single-node.helo-world")

    assert str(refused.value).startswith(
        "there is no test 'single-node.helo-world'; did you mean single-node.hello-world"
    )


def test_a_slug_like_no_other_is_refused_with_all_that_are_known() -> None:
    with pytest.raises(UnknownSlug, match=r"; known: single-node\.hello-world"):
        get_test_class("?")


@pytest.mark.parametrize("slug", ["single-node.toy", "single-node.toys", "single-node.to-y"])
def test_slugs_that_are_too_alike_are_refused(slug: str) -> None:
    with pytest.raises(ConfusingSlugs, match=r"and single-node\.toy are too alike"):
        refuse_confusing_slugs(["single-node.toy", slug])


def test_a_family_of_slugs_is_not_confusing() -> None:
    family = ["single-node.hpl-cpu", "single-node.hpl-gpu", "single-node.nvme"]

    refuse_confusing_slugs(family)
