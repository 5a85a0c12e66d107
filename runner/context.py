"""Reads and checks what we are told to do, by hand: pydantic does not live on a node."""

from __future__ import annotations

import json
import re
from urllib.parse import urlsplit

from runner.contract.artifacts import MAX_BYTES
from runner.contract.wire import SCHEMA, ExecutionContext

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, NoReturn

FIELDS: dict[str, type] = {
    "run_id": str,
    "attempt": int,
    "slug": str,
    "params": dict,
    "node_names": list,
    "num_nodes": int,
    "time_limit_s": int,
    "iterations": int,
    "facts_root": str,
    "uploads": dict,
}
AT_LEAST = {"attempt": 1, "num_nodes": 1, "time_limit_s": 1, "iterations": 1}


class BadContext(Exception):
    """The context is missing, torn, or of another schema. The message never quotes a value."""


def parse_context(text: str, *, slug: str) -> ExecutionContext:
    """Return the context that `text` holds, or raise BadContext saying which field is wrong."""
    told = _load(text)
    if told.get("schema") != SCHEMA:
        raise BadContext(
            f"the context's schema is {told.get('schema')!r}, this runner reads {SCHEMA}"
        )
    for name, kind in FIELDS.items():
        _check_type(told, name, kind)
    _check_values(told)
    if told["slug"] != slug:
        raise BadContext(f"the context is for {told['slug']!r}, not for {slug!r}")
    return ExecutionContext(**{name: told[name] for name in FIELDS})


def check_params(context: ExecutionContext, reads: frozenset[str]) -> None:
    """Raise BadContext unless the params are exactly those that the executor reads."""
    missing, unknown = reads - context.params.keys(), context.params.keys() - reads
    if missing or unknown:
        raise BadContext(
            f"params of {context.slug} lack {sorted(missing)} and have unknown {sorted(unknown)};"
            " hub and bundle are of different versions"
        )


def _load(text: str) -> dict[str, Any]:
    try:
        told = json.loads(text, parse_constant=_refuse_constant)
    except ValueError as error:
        raise BadContext(f"the context is not JSON: {error}") from None
    if not isinstance(told, dict):
        raise BadContext("the context is not a JSON object")
    return told


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number")


def _check_type(told: dict[str, Any], name: str, kind: type) -> None:
    if name not in told:
        raise BadContext(f"the context lacks {name!r}")
    if type(told[name]) is not kind:  # a bool is not a count
        found = type(told[name]).__name__
        raise BadContext(f"the context's {name!r} is {found}, not {kind.__name__}")


def _check_values(told: dict[str, Any]) -> None:
    for name, least in AT_LEAST.items():
        if told[name] < least:
            raise BadContext(f"the context's {name!r} is {told[name]}, must be at least {least}")
    if not told["facts_root"].startswith("/"):
        raise BadContext("the context's 'facts_root' is not an absolute path")
    if not all(isinstance(name, str) for name in told["node_names"]):
        raise BadContext("the context's 'node_names' holds something that is not a string")
    for name, url in told["uploads"].items():
        if name not in MAX_BYTES or not _is_url(str(url)):
            raise BadContext(f"the context's upload {name!r} is no artifact with an http(s) URL")


def _is_url(text: str) -> bool:
    if not re.fullmatch("https?://[!-~]+", text):
        return False
    try:
        parts = urlsplit(text)
        return bool(parts.hostname) and parts.port != 0
    except ValueError:  # of a port or an address that cannot be
        return False
