"""Slurm's JSON (`--json`, slurmrestd), whose shapes changed with its data parsers.

Up to openapi v0.0.38 a state is a word and a number a number; from data_parser v0.0.40 on
(Slurm 23.11) a state is a list of words, and a number is {set, infinite, number}.
"""

from __future__ import annotations

import json
from typing import Any, NoReturn

from burnin.slurm.parse_words import cut, malformed


def document(text: str, command: str) -> dict[str, Any]:
    """Return the document; raise SlurmParseError where it is cut, or reports errors."""
    try:
        found = json.loads(text, parse_constant=lambda constant: _refuse(constant, command))
    except json.JSONDecodeError as error:
        raise cut(f"{command}'s JSON is cut or damaged at line {error.lineno}") from None
    except (RecursionError, ValueError):
        raise malformed(f"{command}'s JSON is nested too deeply, or holds a giant number") from None
    if not isinstance(found, dict):
        raise malformed(f"{command}'s JSON is no object")
    if found.get("errors"):
        raise malformed(f"{command} reports errors: {json.dumps(found['errors'])[:200]}")
    return found


def _refuse(constant: str, command: str) -> NoReturn:
    raise malformed(f"{command}'s JSON holds {constant}")


def records(found: dict[str, Any], name: str, command: str) -> list[dict[str, Any]]:
    """Return the list of jobs or nodes."""
    listed = found.get(name)
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise malformed(f"{command}'s JSON has no list of {name}")
    return listed


def words(value: Any, where: str) -> list[str]:
    """Return a state as words, in whichever shape it comes; there is at least one."""
    listed = value if isinstance(value, list) else [value]
    if not listed or not all(isinstance(word, str) and word for word in listed):
        raise malformed(f"{where} has no state")
    return listed


def text(record: dict[str, Any], name: str, where: str) -> str:
    value = record.get(name)
    if not isinstance(value, str):
        raise malformed(f"{where} has no {name}")
    return value


def whole(value: Any, where: str) -> int | None:
    """Return a number in either shape; None where it is not set, or has no limit."""
    if isinstance(value, dict):
        if not value.get("set") or value.get("infinite"):
            return None
        value = value.get("number")
    if isinstance(value, bool) or not isinstance(value, int):
        raise malformed(f"{where} is no number")
    return value


def is_infinite(value: Any) -> bool:
    return isinstance(value, dict) and bool(value.get("infinite"))
