"""What to do about artifacts that are not there when their job has ended. Pure."""

from dataclasses import dataclass
from datetime import datetime, timedelta

LATE_AFTER = timedelta(seconds=60)  # uploads may still be under way until then
ASK_AGAIN_AFTER = timedelta(seconds=60)
RELAY_TRIED_FOR = timedelta(minutes=15)
LOOK_AGAIN = timedelta(seconds=5)
LOOK_SELDOM = timedelta(seconds=30)


@dataclass(frozen=True)
class Judge:
    """Judge by what is there: nothing more will come."""


@dataclass(frozen=True)
class Wait:
    """Look again after `for_`; `why` is for people."""

    for_: timedelta
    why: str


@dataclass(frozen=True)
class Relay:
    """Ask the satellite to upload what lies in work_dir, then wait."""


@dataclass(frozen=True)
class Lateness:
    """What is known of an attempt whose artifacts are missing.

    `relay_words` is what kept the satellite from bringing them; "" once it has brought all.
    """

    ended_at: datetime
    relay_asked_at: datetime | None
    relayed_at: datetime | None
    relay_words: str
    site_is_silent: bool


def decide(late: Lateness, now: datetime) -> Judge | Wait | Relay:
    """Say what comes next. A site that does not answer is waited for: it may hold everything."""
    if now - late.ended_at < LATE_AFTER:
        return Wait(LOOK_AGAIN, "its artifacts are on their way")
    if late.relayed_at is not None and late.relay_asked_at is not None:
        return Judge()
    if late.relay_words and now - late.ended_at > RELAY_TRIED_FOR:
        return Judge()
    if late.site_is_silent:
        return Wait(LOOK_SELDOM, "its artifacts are still at the site, which does not answer")
    if late.relay_asked_at is None or now - late.relay_asked_at >= ASK_AGAIN_AFTER:
        return Relay()
    words = f": {late.relay_words}" if late.relay_words else ""
    return Wait(LOOK_AGAIN, f"the satellite is asked to bring its artifacts{words}")
