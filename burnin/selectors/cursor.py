"""Pages through what is too long to count: by where the last page ended, newest first."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Generic, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model, Q, QuerySet

Row = TypeVar("Row", bound=Model)


class BadCursor(ValueError):
    """The text is no cursor of ours: start at the first page."""


@dataclass(frozen=True)
class CursorPage(Generic[Row]):
    """Some rows, and where the next page begins; "" on the last one."""

    rows: list[Row]
    next_cursor: str
    is_first: bool
    words: str


def newest_first(
    rows: QuerySet[Row], field: str, cursor: str | None, *, size: int = 50
) -> CursorPage[Row]:
    """Return `size` rows by a time that is never null, then by key. Raises BadCursor."""
    rows = rows.order_by(f"-{field}", "-pk")
    if cursor:
        at, key = _read(cursor, rows.model)
        rows = rows.filter(Q(**{f"{field}__lt": at}) | Q(**{field: at, "pk__lt": key}))
    found = list(rows[: size + 1])
    shown, more = found[:size], len(found) > size
    words = "Older ones follow" if more else "No older ones"
    return CursorPage(shown, _write(shown[-1], field) if more else "", not cursor, words)


def _write(row: Model, field: str) -> str:
    at: datetime = getattr(row, field)
    return base64.urlsafe_b64encode(f"{at.isoformat()} {row.pk}".encode()).decode().rstrip("=")


def _read(cursor: str, model: type[Model]) -> tuple[datetime, object]:
    try:
        text = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)).decode()
        at, _, key = text.partition(" ")
        # In UTC, so that a time without a zone or beyond the calendar's end is none of ours.
        moment = datetime.fromisoformat(at)
        if moment.tzinfo is None or "\0" in key:
            raise BadCursor("no time or key of ours")
        return moment.astimezone(UTC), model._meta.pk.to_python(key)
    except (ValueError, OverflowError, ValidationError) as error:
        raise BadCursor("this page's address is damaged: start at the first page") from error
