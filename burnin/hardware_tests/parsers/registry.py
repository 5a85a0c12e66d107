"""Which parser reads which tool's output, and the plain form of what it says."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from burnin.hardware_tests.parsers import fio, kernel_log, stressapptest

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Parser = Callable[[str], DataclassInstance]

PARSERS: Mapping[str, Parser] = {
    "fio": fio.parse,
    "kernel-log": kernel_log.parse,
    "stressapptest": stressapptest.parse,
}


class UnknownTool(Exception):
    """No parser of that name."""

    def __init__(self, tool: str) -> None:
        near = difflib.get_close_matches(tool, PARSERS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"known are {', '.join(PARSERS)}."
        super().__init__(f"there is no parser for '{tool}': {hint}")
        self.tool = tool


def parser_of(tool: str) -> Parser:
    """Return the parse function of a tool; raise UnknownTool."""
    try:
        return PARSERS[tool]
    except KeyError:
        raise UnknownTool(tool) from None


def parse_to_json(tool: str, text: str) -> str:
    """Return the typed report as JSON text; raise UnknownTool or ParseError."""
    report: dict[str, Any] = {"tool": tool, **asdict(parser_of(tool)(text))}
    return json.dumps(report, indent=2, allow_nan=False)
