"""What a page shows, filtered as it is, as CSV or JSON, streamed row by row."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import TypeVar

from django.http import HttpRequest, HttpResponseBadRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase

Row = TypeVar("Row")
Columns = Mapping[str, Callable[[Row], object]]

FORMULA_BEGINS = ("=", "+", "-", "@", "\t", "\r")
ROWS_A_CHUNK = 500


class _Echo:
    """A file for the CSV writer that hands back what is written to it."""

    def write(self, text: str) -> str:
        return text


def export(
    request: HttpRequest, name: str, columns: Columns[Row], rows: Iterable[Row]
) -> HttpResponseBase | None:
    """Return the rows as `?export=` asks (csv, json); None when the page itself is wanted.

    `columns` maps a column's name to how it is read from a row. Nothing of `rows` is read before
    the answer is sent: pass `queryset.iterator(…)`, or a generator.
    """
    kind = request.GET.get("export")
    if kind is None:
        return None
    writers = {
        "csv": ("text/csv; charset=utf-8", as_csv),
        "json": ("application/json", as_json),
    }
    if kind not in writers:
        sentence = f"there is no export {kind[:20]!r}: take export=csv or export=json"
        return HttpResponseBadRequest(sentence, content_type="text/plain; charset=utf-8")
    content_type, write = writers[kind]
    response = StreamingHttpResponse(_in_chunks(write(columns, rows)), content_type=content_type)
    response["Content-Disposition"] = f'attachment; filename="{name}.{kind}"'
    response["Cache-Control"] = "private, no-store"
    return response


def as_csv(columns: Columns[Row], rows: Iterable[Row]) -> Iterator[str]:
    """Yield lines. A text that a spreadsheet would run as a formula begins with a quote mark."""
    writer = csv.writer(_Echo())
    yield writer.writerow(columns)
    for row in rows:
        yield writer.writerow(_cell(read(row)) for read in columns.values())


def as_json(columns: Columns[Row], rows: Iterable[Row]) -> Iterator[str]:
    """Yield one array of objects, one a line."""
    before = "[\n"
    for row in rows:
        shown = {name: _value(read(row)) for name, read in columns.items()}
        yield before + json.dumps(shown, ensure_ascii=False, default=str)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def _cell(value: object) -> object:
    value = _value(value)
    if isinstance(value, list | dict):
        value = json.dumps(value, ensure_ascii=False, default=str)
    if isinstance(value, str) and value.startswith(FORMULA_BEGINS):
        return f"'{value}"
    return value


def _value(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value


def _in_chunks(parts: Iterable[str]) -> Iterator[bytes]:
    """Send many rows at once: a write for each costs more than the row."""
    chunk: list[str] = []
    for part in parts:
        chunk.append(part)
        if len(chunk) == ROWS_A_CHUNK:
            yield "".join(chunk).encode()
            chunk = []
    if chunk:
        yield "".join(chunk).encode()
