from __future__ import annotations

from typing import Any

import pytest

from burnin.tests.hardware_tests.parsers.corpus.comparison import Whole, differences


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"a": 100.4, "b": 1}, {"a": 100.0}),
        ({"a": [1, 2]}, {"a": [1, 2]}),
        ({"a": (1, 2)}, {"a": [1, 2]}),
        ({"a": None}, {"a": None}),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}),
        ({"a": Whole({"b": 1})}, {"a": {"b": 1}}),
        ({"a": {}}, {"a": {}}),
    ],
)
def test_what_is_as_expected_has_no_differences(found: Any, expected: Any) -> None:
    assert differences(found, expected) == []


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ({"a": 100.6}, {"a": 100.0}),
        ({"a": float("nan")}, {"a": 1.0}),
        ({"a": "1"}, {"a": 1}),
        ({"a": True}, {"a": 1}),
        ({"a": 1}, {"a": True}),
        ({"a": 0}, {"a": None}),
        ({"a": None}, {"a": 0}),
        ({}, {"a": None}),
        ({"a": [1, 2, 3]}, {"a": [1, 2]}),
        ({"a": {"b": 1}}, {"a": {}}),
        ({"a": Whole({"b": 1, "c": 2})}, {"a": {"b": 1}}),
        ({"a": 1}, {"a": {"b": 1}}),
    ],
)
def test_what_is_not_as_expected_is_one_difference(found: Any, expected: Any) -> None:
    assert len(differences(found, expected)) == 1
