"""What nodes and tools wrote, as a database can hold it."""

from __future__ import annotations

from typing import Any

REPLACEMENT = "\ufffd"


def storable(text: str, *, limit: int) -> str:
    """Return the text without NUL, which PostgreSQL refuses, cut to `limit` characters."""
    clean = text.replace("\0", REPLACEMENT)
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def storable_json(value: Any) -> Any:
    """Return plain JSON without NUL in any text."""
    if isinstance(value, str):
        return value.replace("\0", REPLACEMENT)
    if isinstance(value, dict):
        return {storable_json(key): storable_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [storable_json(each) for each in value]
    return value
