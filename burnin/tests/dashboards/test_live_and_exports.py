"""Parts that change by themselves stop when they can; exports are whole and safe to open."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from django.http import HttpRequest
from django.test import RequestFactory

from burnin.dashboards.exports import as_csv, as_json, export
from burnin.dashboards.live import STOP_POLLING, fragment, without_ages

TEMPLATE = "dashboards/parts/why.html"
CONTEXT = {"ident": "x", "action": "/", "title": "t", "says": "s", "verb": "v"}


def _request(etag: str = "") -> HttpRequest:
    headers = {"If-None-Match": etag} if etag else {}
    return RequestFactory().get("/", headers=headers)


def test_a_part_that_is_final_ends_the_polling_even_if_nothing_changed() -> None:
    first = fragment(_request(), TEMPLATE, {})

    last = fragment(_request(first["ETag"]), TEMPLATE, {}, is_final=True)

    assert last.status_code == STOP_POLLING
    assert last.content


def test_an_age_that_counts_on_is_no_change() -> None:
    old = b'<time datetime="a" title="b" data-age>3 s</time>'
    new = b'<time datetime="a" title="b" data-age>4 min</time>'
    other = b'<time datetime="c" title="b" data-age>4 min</time>'

    assert without_ages(old) == without_ages(new) != without_ages(other)


def _rows() -> Iterator[dict[str, object]]:
    yield {"text": "=1+1", "number": -3, "at": datetime(2026, 1, 2, tzinfo=UTC)}
    yield {"text": 'a "b", c', "number": None, "at": None}


COLUMNS = {
    "text": lambda row: row["text"],
    "number": lambda row: row["number"],
    "at": lambda row: row["at"],
}


def test_a_csv_cannot_run_a_formula_and_keeps_numbers_as_they_are() -> None:
    lines = "".join(as_csv(COLUMNS, _rows())).splitlines()

    assert lines == [
        "text,number,at",
        "'=1+1,-3,2026-01-02T00:00:00+00:00",
        '"a ""b"", c",,',
    ]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_a_json_export_is_json_whatever_the_number_of_rows(count: int) -> None:
    rows = list(_rows())[:count]

    assert len(json.loads("".join(as_json(COLUMNS, rows)))) == count


def test_rows_are_read_when_they_are_sent_and_not_before() -> None:
    read = []

    def rows() -> Iterator[dict[str, object]]:
        for row in _rows():
            read.append(row)
            yield row

    answer = export(RequestFactory().get("/?export=csv"), "x", COLUMNS, rows())

    assert answer is not None and answer.streaming
    assert read == []
    assert len(b"".join(answer.streaming_content).splitlines()) == 3  # type: ignore[attr-defined]


def test_no_export_is_asked_for_without_the_word() -> None:
    assert export(RequestFactory().get("/"), "x", COLUMNS, _rows()) is None
