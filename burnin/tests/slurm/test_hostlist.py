"""Host lists: what Slurm means by them, and what is refused before it costs anything."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from burnin.slurm.hostlist import (
    BadHostList,
    DuplicateNodes,
    EmptyHostList,
    HostListTooLarge,
    expand,
    expand_allocation,
    expand_typed,
    fold,
)

FIXTURES = Path(__file__).parents[3] / "fixtures" / "slurm"
EXPECTED: dict[str, list[str]] = json.loads((FIXTURES / "hostlists.txt.meta.json").read_text())[
    "expected"
]["expand"]


@pytest.mark.parametrize("text", [text for text, names in EXPECTED.items() if names])
def test_a_host_list_is_read_as_slurm_reads_it(text: str) -> None:
    assert expand(text) == EXPECTED[text]


def test_order_and_padding_are_kept() -> None:
    assert expand("n[7,001-003],a2") == ["n7", "n001", "n002", "n003", "a2"]
    assert expand("n[9-11]") == ["n9", "n10", "n11"]
    assert expand("a[1-2]b[01-02]c")[:3] == ["a1b01c", "a1b02c", "a2b01c"]


@pytest.mark.parametrize("text", ["", "  ", "None assigned", "(null)"])
def test_an_empty_list_is_refused_but_a_pending_job_has_no_nodes(text: str) -> None:
    with pytest.raises(EmptyHostList, match="at least one node"):
        expand(text)

    assert expand_allocation(text) == []


@pytest.mark.parametrize(
    "text", ["n[1-99999999]", "n[1-999]m[1-999]", "n[1-9][1-9][1-9][1-9][1-9]", "n[0-10000]"]
)
def test_a_bomb_is_refused_before_it_is_expanded(text: str) -> None:
    began = time.perf_counter()
    with pytest.raises(HostListTooLarge, match="at most 10,000"):
        expand(text)

    assert time.perf_counter() - began < 0.05


def test_a_text_of_many_megabytes_is_refused() -> None:
    with pytest.raises(HostListTooLarge, match="characters long"):
        expand("n1," * 1_000_000)


def test_duplicates_are_named() -> None:
    with pytest.raises(DuplicateNodes, match="names n2 more than once") as caught:
        expand("n[1-3],n2")

    assert caught.value.names == ("n2",)


@pytest.mark.parametrize(
    "text",
    [
        "n[1-",
        "n]1[",
        "n[[1-2]]",
        "n[3-1]",
        "n[a-b]",
        "n[1-9/2]",
        "n[]",
        "@all",
        "n1 n2",
        "n1,,n2",
        "n1&n2",
        "n1!n2",
        "n1^n2",
        "*",
        "../n1",
        "n1\nn2",
        "n[1,]",
        "-n1",
        "n[1-2]@x",
    ],
)
def test_garbage_is_refused_in_one_sentence(text: str) -> None:
    with pytest.raises(BadHostList) as caught:
        expand(text)

    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("typed", "names"),
    [
        ("n1 n12", ["n1", "n12"]),
        ("n1 2", ["n1", "2"]),  # and never n12
        ("n[1-2]\n\tn9\r\n", ["n1", "n2", "n9"]),
        (" n1 , n[2, 4] ,n7", ["n1", "n2", "n4", "n7"]),
    ],
)
def test_names_that_a_person_typed_stand_apart_by_commas_or_white_space(
    typed: str, names: list[str]
) -> None:
    assert expand_typed(typed) == names


@pytest.mark.parametrize("typed", ["n[1 2]", "n[1- 2]", "n1,,n2", " \n", "n1&n2"])
def test_what_a_person_may_have_meant_otherwise_is_refused(typed: str) -> None:
    with pytest.raises(BadHostList):
        expand_typed(typed)


def test_folding_is_the_way_back() -> None:
    assert fold(["n001", "n002", "n003"]) == "n[001-003]"
    assert fold([]) == ""
    with pytest.raises(BadHostList, match="no node name"):
        fold(["@all"])


@given(st.sets(st.from_regex(r"[a-z]{1,3}[0-9]{1,4}", fullmatch=True), min_size=1, max_size=30))
def test_what_is_folded_expands_to_the_same_nodes(names: set[str]) -> None:
    assert set(expand(fold(sorted(names)))) == names


@given(st.text(max_size=60))
def test_any_text_is_a_list_or_is_refused(text: str) -> None:
    try:
        names = expand(text)
    except BadHostList:
        return

    assert names
