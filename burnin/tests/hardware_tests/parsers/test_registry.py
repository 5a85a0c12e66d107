from __future__ import annotations

import pytest

from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.hardware_tests.parsers.registry import PARSERS, UnknownTool, parse_to_json


def test_an_unknown_tool_is_told_its_near_match() -> None:
    with pytest.raises(UnknownTool, match="there is no parser for 'foi': did you mean fio"):
        parse_to_json("foi", "")


def test_an_unknown_tool_without_near_match_is_told_what_is_known() -> None:
    with pytest.raises(UnknownTool, match=f"known are {', '.join(PARSERS)}"):
        parse_to_json("zzz", "")


def test_a_refusal_is_raised_not_printed() -> None:
    with pytest.raises(ParseError):
        parse_to_json("fio", "")
