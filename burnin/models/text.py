"""What nodes and tools wrote, as a database can hold it."""

from __future__ import annotations

import re
from typing import Any

REPLACEMENT = "\ufffd"
# PostgreSQL refuses NUL, and half of a surrogate pair cannot be written as UTF-8.
_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def storable(text: str, *, limit: int) -> str:
    """Return the text without what no database takes, cut to `limit` characters."""
    clean = _UNSTORABLE.sub(REPLACEMENT, text)
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def storable_json(value: Any) -> Any:
    """Return plain JSON whose texts a database takes."""
    if isinstance(value, str):
        return _UNSTORABLE.sub(REPLACEMENT, value)
    if isinstance(value, dict):
        return {storable_json(key): storable_json(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [storable_json(each) for each in value]
    return value
