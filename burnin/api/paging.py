"""Pages by the key of the last row: no count, no offset, the same cost at any depth."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from typing import Any, cast

from django.core.exceptions import ValidationError as BadValue
from django.db import models
from django.db.models import Q
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import BasePagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param
from rest_framework.views import APIView

CURSOR, PAGE_SIZE = "cursor", "page_size"
PARAMETERS = (CURSOR, PAGE_SIZE)
ROWS = 100
MOST_ROWS = 500
LONGEST_CURSOR = 2000


class KeysetPages(BasePagination):
    """The rows after a cursor, by `view.keys`: one or two fields, alike in direction, unique."""

    def paginate_queryset(
        self, queryset: Any, request: Request, view: APIView | None = None
    ) -> list[Any]:
        """Return a page of the QuerySet, and keep where the next one begins."""
        keys: Sequence[str] = view.keys  # type: ignore[union-attr]  # every ListOf has them
        self._url = request.build_absolute_uri()
        size = _page_size(request)
        cursor = request.query_params.get(CURSOR)
        after = queryset.filter(_after(queryset.model, keys, cursor)) if cursor else queryset
        rows = list(after.order_by(*keys)[: size + 1])
        self.next_cursor = _cursor_of(rows[size - 1], keys) if len(rows) > size else None
        return rows[:size]

    def get_paginated_response(self, data: Any) -> Response:
        url = replace_query_param(self._url, CURSOR, self.next_cursor) if self.next_cursor else None
        return Response({"next": url, "results": data})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        following = {
            "type": "string",
            "format": "uri",
            "nullable": True,
            "description": "Where the rest is; null at the end.",
            "example": "https://fleet.example.com/api/v1/…?cursor=WyI0NzExIl0",
        }
        return {
            "type": "object",
            "required": ["next", "results"],
            "properties": {"next": following, "results": schema},
        }

    def get_schema_operation_parameters(self, view: APIView) -> list[dict[str, Any]]:
        after = "From `next` of the page before; leave it out for the first page."
        size = {"type": "integer", "minimum": 1, "maximum": MOST_ROWS, "default": ROWS}
        return [
            {"name": CURSOR, "in": "query", "description": after, "schema": {"type": "string"}},
            {"name": PAGE_SIZE, "in": "query", "description": "Rows a page.", "schema": size},
        ]


def _page_size(request: Request) -> int:
    text = request.query_params.get(PAGE_SIZE, str(ROWS))
    size = int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0
    if not 1 <= size <= MOST_ROWS:
        raise ValidationError({PAGE_SIZE: f"give a number from 1 to {MOST_ROWS}"})
    return size


def _cursor_of(row: models.Model, keys: Sequence[str]) -> str:
    values = [str(getattr(row, key.lstrip("-"))) for key in keys]
    return base64.urlsafe_b64encode(json.dumps(values).encode()).decode().rstrip("=")


def _after(model: type[models.Model], keys: Sequence[str], cursor: str) -> Q:
    """Return what holds for the rows after a cursor. Raises ValidationError."""
    values = _values(model, keys, cursor)
    beyond = "lt" if keys[0].startswith("-") else "gt"
    first, *rest = [key.lstrip("-") for key in keys]
    if not rest:
        return Q((f"{first}__{beyond}", values[0]))
    # The first condition lets an index be used, which the second hides.
    return Q((f"{first}__{beyond}e", values[0])) & (
        Q((f"{first}__{beyond}", values[0])) | Q((f"{rest[0]}__{beyond}", values[1]))
    )


def _values(model: type[models.Model], keys: Sequence[str], cursor: str) -> list[Any]:
    fields = [
        cast("models.Field[Any, Any]", model._meta.get_field(key.lstrip("-"))) for key in keys
    ]
    try:
        if len(cursor) > LONGEST_CURSOR:
            raise ValueError
        text = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        said = json.loads(text)
        if not isinstance(said, list) or not all(isinstance(each, str) for each in said):
            raise ValueError
        return [_value(field, each) for field, each in zip(fields, said, strict=True)]
    except (ValueError, BadValue, OverflowError, RecursionError) as error:
        words = "this is no cursor of this list: take it from `next`, or leave it out"
        raise ValidationError({CURSOR: words}) from error


def _value(field: models.Field[Any, Any], text: str) -> Any:
    value = field.to_python(text)
    if value is None or "\0" in text or (isinstance(value, int) and abs(value) >= 1 << 63):
        raise ValueError
    return value
