"""When late artifacts are waited for, asked for, and given up."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from burnin.workflow.lateness import (
    ASK_AGAIN_AFTER,
    LATE_AFTER,
    RELAY_TRIED_FOR,
    Judge,
    Lateness,
    Relay,
    Wait,
    decide,
)

ENDED = datetime(2026, 1, 1, tzinfo=UTC)
SECOND = timedelta(seconds=1)
LATE = Lateness(
    ended_at=ENDED, relay_asked_at=None, relayed_at=None, relay_words="", site_is_silent=False
)


def test_uploads_get_their_grace() -> None:
    assert isinstance(decide(LATE, ENDED + LATE_AFTER - SECOND), Wait)
    assert isinstance(decide(LATE, ENDED + LATE_AFTER), Relay)


def test_a_silent_site_is_waited_for_as_long_as_it_takes() -> None:
    silent = replace(LATE, site_is_silent=True)

    assert isinstance(decide(silent, ENDED + timedelta(days=30)), Wait)


def test_an_unanswered_relay_is_asked_for_again() -> None:
    asked = replace(LATE, relay_asked_at=ENDED + LATE_AFTER)

    assert isinstance(decide(asked, ENDED + LATE_AFTER + ASK_AGAIN_AFTER - SECOND), Wait)
    assert isinstance(decide(asked, ENDED + LATE_AFTER + ASK_AGAIN_AFTER), Relay)


def test_a_whole_relay_ends_the_wait() -> None:
    now = ENDED + LATE_AFTER + SECOND
    relayed = replace(LATE, relay_asked_at=ENDED + LATE_AFTER, relayed_at=now)

    assert isinstance(decide(relayed, now), Judge)


def test_a_relay_that_fails_is_tried_for_a_while() -> None:
    asked_at = ENDED + LATE_AFTER
    failing = replace(LATE, relay_asked_at=asked_at, relay_words="no route to the store")

    assert isinstance(decide(failing, ENDED + RELAY_TRIED_FOR), Relay)
    assert isinstance(decide(failing, ENDED + RELAY_TRIED_FOR + SECOND), Judge)
    waits = decide(failing, asked_at + SECOND)
    assert isinstance(waits, Wait)
    assert waits.why.endswith(": no route to the store")
