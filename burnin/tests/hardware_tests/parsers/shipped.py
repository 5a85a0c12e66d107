"""The text of a shipped recording, and the refusal that a parser answers a text with."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.tests.hardware_tests.parsers.corpus.recordings import SHIPPED


def shipped(tool: str, name: str) -> str:
    return (SHIPPED / tool / name).read_text()


def refusal_of(parse: Callable[[str], Any], text: str) -> ParseError:
    with pytest.raises(ParseError) as refused:
        parse(text)
    return refused.value
