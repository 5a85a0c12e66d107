"""How a body is read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import IO, Any

from rest_framework.exceptions import ParseError
from rest_framework.parsers import JSONParser

MOST_LEVELS = 100


class ShallowJson(JSONParser):
    """JSON, refused where it is nested deeper than whoever reads it can follow."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        try:
            body = super().parse(stream, media_type, parser_context)
        except RecursionError as error:
            raise ParseError("the body is nested too deeply") from error
        # What Python has just read is too deep for code that goes down a few calls a level.
        if _is_deep(body):
            raise ParseError("the body is nested too deeply")
        return body


def _is_deep(body: Any) -> bool:
    level = [body]
    for _ in range(MOST_LEVELS):
        level = [each for value in level for each in _inside(value)]
        if not level:
            return False
    return True


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()
