"""Whether what a parser found is what a recording's note expects."""

from __future__ import annotations

import math
from typing import Any

TOLERANCE = 0.005


class Whole(dict[str, Any]):
    """A mapping that may hold no key beyond the expected ones: names of tests, of devices."""


def differences(found: Any, expected: Any, where: str = "") -> list[str]:
    """Say each place where `found` is not what is expected.

    A mapping may say more than is expected, unless it is `Whole` or nothing is expected in it.
    Numbers may differ by half a percent; all else is exact.
    """
    if isinstance(expected, dict):
        return _in_mapping(found, expected, where)
    if isinstance(expected, list):
        return _in_list(found, expected, where)
    good = _same_number(found, expected) if _is_number(expected) else found == expected
    good = good and isinstance(found, bool) == isinstance(expected, bool)
    return [] if good else [f"{where or 'the whole'} is {found!r}, expected {expected!r}"]


def _in_mapping(found: Any, expected: dict[str, Any], where: str) -> list[str]:
    if not isinstance(found, dict):
        return [f"{where} is {found!r}, expected a mapping"]
    told = [
        difference
        for key, value in expected.items()
        for difference in (
            differences(found[key], value, f"{where}.{key}")
            if key in found
            else [f"{where}.{key} is missing, expected {value!r}"]
        )
    ]
    surplus = set(found) - set(expected) if isinstance(found, Whole) or not expected else set()
    return told + [f"{where}.{key} is not expected" for key in sorted(surplus)]


def _in_list(found: Any, expected: list[Any], where: str) -> list[str]:
    if not isinstance(found, list | tuple) or len(found) != len(expected):
        return [f"{where} is {found!r}, expected {expected!r}"]
    return [
        difference
        for index, (one, other) in enumerate(zip(found, expected, strict=True))
        for difference in differences(one, other, f"{where}[{index}]")
    ]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _same_number(found: Any, expected: float) -> bool:
    return _is_number(found) and math.isclose(found, expected, rel_tol=TOLERANCE)
