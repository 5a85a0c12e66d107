"""A test's params as a table: from their JSON schema. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_BOUNDS = (
    ("minimum", "≥ {}"),
    ("exclusiveMinimum", "> {}"),
    ("maximum", "≤ {}"),
    ("exclusiveMaximum", "< {}"),
    ("minLength", "at least {} characters"),
    ("maxLength", "at most {} characters"),
    ("minItems", "at least {} of them"),
    ("maxItems", "at most {} of them"),
)


@dataclass(frozen=True)
class ParamRow:
    """One param in words. `default` is "required" where there is none."""

    name: str
    kind: str
    default: str
    allowed: str
    description: str


def param_rows(schema: Mapping[str, Any]) -> list[ParamRow]:
    """Return every param of the schema, in the order it states them."""
    definitions = schema.get("$defs", {})
    return [
        _row(name, _resolved(each, definitions), definitions)
        for name, each in schema.get("properties", {}).items()
    ]


def _row(name: str, stated: Mapping[str, Any], definitions: Mapping[str, Any]) -> ParamRow:
    items = _resolved(stated.get("items", {}), definitions)
    default = (
        json.dumps(stated["default"], ensure_ascii=False) if "default" in stated else "required"
    )
    return ParamRow(
        name=name,
        kind=_kind(stated, items, definitions),
        default=default,
        allowed=_allowed(stated) or _allowed(items),
        description=str(stated.get("description", "")),
    )


def _resolved(stated: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what a reference points to, under what stands beside it."""
    if reference := stated.get("$ref"):
        found = definitions.get(str(reference).rpartition("/")[2], {})
        return {**found, **{key: value for key, value in stated.items() if key != "$ref"}}
    return stated


def _kind(
    stated: Mapping[str, Any], items: Mapping[str, Any], definitions: Mapping[str, Any]
) -> str:
    if options := stated.get("anyOf"):
        kinds = [_kind(_resolved(each, definitions), {}, definitions) for each in options]
        return " or ".join(dict.fromkeys(kinds))
    if stated.get("type") == "array":
        return f"list of {_kind(items, {}, definitions)}" if items else "list"
    return {"null": "nothing"}.get(str(stated.get("type")), str(stated.get("type", "any")))


def _allowed(stated: Mapping[str, Any]) -> str:
    if options := stated.get("enum"):
        return ", ".join(str(each) for each in options)
    low, high = stated.get("minimum"), stated.get("maximum")
    if low is not None and high is not None:
        return f"{low:,}–{high:,}"
    words = [form.format(stated[key]) for key, form in _BOUNDS if key in stated]
    return ", ".join(words)
