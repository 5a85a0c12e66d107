"""docker-compose.yml as Docker would read it: interpolated, service by service."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[3]
FILE = ROOT / "docker-compose.yml"
VARIABLE = re.compile(r"\$\$|\$\{(?P<name>\w+)(?::?(?P<kind>[-?])(?P<rest>[^}]*))?\}")


class Unset(LookupError):
    """A variable that the file insists on has no value."""


@cache
def document() -> dict[str, Any]:
    """Return the file as it stands, anchors followed."""
    read: dict[str, Any] = yaml.safe_load(FILE.read_text())
    return read


def services() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = document()["services"]
    return found


def interpolated(value: Any, environment: Mapping[str, str]) -> Any:
    """Return the value with each ${…} replaced. Raises Unset."""
    if isinstance(value, str):
        return VARIABLE.sub(lambda match: _value(match, environment), value)
    if isinstance(value, dict):
        return {key: interpolated(each, environment) for key, each in value.items()}
    if isinstance(value, list):
        return [interpolated(each, environment) for each in value]
    return value


def variables(value: str) -> list[str]:
    """Return the names of the variables in a text."""
    return [match["name"] for match in VARIABLE.finditer(value) if match["name"]]


def _value(match: re.Match[str], environment: Mapping[str, str]) -> str:
    if match[0] == "$$":
        return "$"
    if found := environment.get(match["name"]):
        return found
    if match["kind"] == "-":
        return str(match["rest"])
    raise Unset(f"{match['name']}: {match['rest'] or 'has no value'}")


def dotenv(text: str) -> dict[str, str]:
    """Return what a .env file sets."""
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return dict(line.split("=", 1) for line in lines)
