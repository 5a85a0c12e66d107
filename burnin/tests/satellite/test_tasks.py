"""Orders are checked before anything is done, and none of their secrets is logged."""

from __future__ import annotations

import logging

import pytest

from burnin.satellite.messages import CheckOrder, RelayOrder, SubmitOrder
from burnin.satellite.redaction import Redaction, redacted
from burnin.satellite.tasks import checked_order

URL = "https://store.example/bucket/key?X-Amz-Signature=SECRET"
RUN = "00000000-0000-0000-0000-000000000001"


@pytest.mark.parametrize(
    "order",
    [
        None,
        [],
        "text",
        {"run_id": RUN, "attempt": 1},
        {"run_id": "../../etc", "attempt": 1, "uploads": {"stdout.txt": URL}},
        {"run_id": RUN, "attempt": 0, "uploads": {"stdout.txt": URL}},
        {"run_id": RUN, "attempt": 1, "uploads": {"stdout.txt": URL}, "also": URL},
        {"run_id": RUN, "attempt": 1, "uploads": {"stdout.txt": [URL]}},
    ],
)
def test_a_bad_order_is_dropped_with_one_sentence_that_holds_no_url(
    order: object, caplog: pytest.LogCaptureFixture
) -> None:
    assert checked_order(RelayOrder, order) is None

    [record] = caplog.records
    assert record.getMessage().startswith("dropped a RelayOrder that is wrong at ")
    assert "SECRET" not in caplog.text


def test_a_good_order_is_what_it_says() -> None:
    order = {"run_id": RUN, "attempt": 1, "uploads": {"stdout.txt": URL}}

    checked = checked_order(RelayOrder, order)

    assert checked is not None
    assert checked.uploads == {"stdout.txt": URL}


def test_an_empty_submit_and_a_half_check_are_bad_orders() -> None:
    assert checked_order(SubmitOrder, {"jobs": []}) is None
    assert checked_order(CheckOrder, {"request_id": RUN}) is None


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        (f"PUT {URL} failed", "PUT https://store.example/bucket/key?… failed"),
        (f"{{'uploads': {{'a': '{URL}', 'b': 1}}}}", None),
        ("Authorization: Bearer abc.def", "Authorization: Bearer …"),
        ("redis://site-east:pass@host:6379/0", "redis://site-east:…@host:6379/0"),
        ("nothing to hide: a?b", "nothing to hide: a?b"),
    ],
)
def test_urls_tokens_and_passwords_do_not_get_into_the_log(text: str, kept: str | None) -> None:
    safe = redacted(text)

    assert not {"SECRET", "abc.def", ":pass@"} & {word for word in (text,) if word in safe}
    assert "SECRET" not in safe
    assert kept is None or safe == kept


def test_a_traceback_is_redacted_too() -> None:
    try:
        raise ValueError(URL)
    except ValueError as error:
        trouble = (type(error), error, error.__traceback__)
    record = logging.LogRecord("x", logging.ERROR, __file__, 1, "at %s", (URL,), trouble)

    Redaction().filter(record)
    text = logging.Formatter().format(record)

    assert "ValueError" in text
    assert "SECRET" not in text
