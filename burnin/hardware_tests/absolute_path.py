"""A path on a node, as a param."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, StringConstraints


def _absolute(path: str) -> str:
    if not path.startswith("/") or not path.isprintable():
        raise ValueError("a path on the node starts with / and holds no control characters")
    return path


AbsolutePath = Annotated[str, StringConstraints(max_length=4096), AfterValidator(_absolute)]
