"""A site whose clocks are far from the hub's would lose its orders: it gets none, and why."""

from __future__ import annotations

from datetime import timedelta

import pytest

from burnin.models import TestRun
from burnin.satellite.messages import (
    ClockOwner,
    ClockSeen,
    Envelope,
    FactBatch,
    Finding,
    Heartbeat,
    SiteChecked,
)
from burnin.states import RunState
from burnin.tests.workflow.facts import Rings
from burnin.tests.workflow.simulated import Hub, make_hub
from burnin.workflow import site_check
from burnin.workflow.clocks import HUB_CLOCK, MAY_DIFFER_S, finding
from burnin.workflow.plan import PlanRefused
from burnin.workflow.record import record_facts
from fleet.models import Site

GOOD = Finding(probe="work_dir_shared", passed=True)
AGREEING = dict.fromkeys(ClockOwner, 0.0)
REQUEST = "00000000-0000-4000-8000-000000000001"


def checked(clocks: dict[ClockOwner, float], request_id: str = REQUEST) -> SiteChecked:
    seen = tuple(ClockSeen(whose=whose, ahead_s=by_s) for whose, by_s in clocks.items())
    return SiteChecked(request_id=request_id, findings=(GOOD,), clocks=seen)


def test_clocks_that_agree_are_good_and_shown() -> None:
    found = finding(checked({ClockOwner.LOGIN_HOST: 0.5, ClockOwner.NODE: -1.0}), 2.0)

    assert (found.probe, found.passed, found.words) == (HUB_CLOCK, True, "")
    assert found.found == "satellite +2.0 s, login host +2.5 s, node +1.0 s"


@pytest.mark.parametrize(
    ("satellite_s", "node_s", "words"),
    [
        (0.0, 95.0, "the clock of the node is 95 s ahead of the hub's"),
        (0.0, -95.0, "the clock of the node is 95 s behind the hub's"),
        (
            -40.0,
            40.0,
            "the clock of the satellite is 40 s behind the hub's and "
            "the clock of the login host is 40 s behind the hub's",
        ),
    ],
)
def test_a_clock_that_is_far_off_is_named(satellite_s: float, node_s: float, words: str) -> None:
    found = finding(checked({**AGREEING, ClockOwner.NODE: node_s}), satellite_s)

    assert (found.passed, found.words) == (False, f"{words}: more than 30 s; set it by NTP")


def test_a_clock_that_was_not_read_is_not_good() -> None:
    found = finding(checked({ClockOwner.LOGIN_HOST: 0.0}), 0.0)

    assert (found.passed, found.words) == (False, "the clock of the node could not be read")


def test_a_satellite_that_does_not_say_its_time_is_not_good() -> None:
    assert not finding(checked(AGREEING), None).passed


def beat(hub: Hub, ahead_s: float | None) -> None:
    """Post a heartbeat from a satellite whose clock is ahead; None: it does not say its time."""
    fact = Heartbeat(at=hub.now, version="1")
    sent_at = None if ahead_s is None else hub.now + timedelta(seconds=ahead_s)
    batch = FactBatch(facts=(Envelope(id="1", fact=fact),), sent_at=sent_at)
    record_facts(hub.site_row, batch, now=hub.now, bells=Rings())


@pytest.mark.django_db
@pytest.mark.parametrize("ahead_s", [0.0, 29.5, -12.25])
def test_every_heartbeat_shows_by_how_much_the_satellite_is_ahead(ahead_s: float) -> None:
    hub = make_hub()

    beat(hub, ahead_s)

    assert Site.objects.get().reach["clock_skew_s"] == ahead_s
    assert hub.plan()


@pytest.mark.django_db
@pytest.mark.parametrize("ahead_s", [MAY_DIFFER_S + 1, -MAY_DIFFER_S - 1])
def test_a_site_whose_satellite_is_out_of_time_gets_no_jobs_and_hears_why(ahead_s: float) -> None:
    hub = make_hub("n1")
    hub.plan()
    beat(hub, ahead_s)
    hub.work()

    assert TestRun.objects.get().state == RunState.PLANNED
    with pytest.raises(PlanRefused, match=r"satellite of site east is 31 s .*set it by NTP"):
        hub.plan()


@pytest.mark.django_db
@pytest.mark.parametrize("reach", [{"clock_skew_s": None}, {"clock_skew_s": "+1 s"}, {}])
def test_a_site_whose_clock_nobody_knows_gets_no_jobs_and_hears_what_to_do(
    reach: dict[str, object],
) -> None:
    hub = make_hub("n1")
    hub.plan()
    Site.objects.update(reach=reach)
    hub.work()

    assert TestRun.objects.get().state == RunState.PLANNED
    with pytest.raises(PlanRefused, match=r"site east does not say what time it has: bring it to"):
        hub.plan()


@pytest.mark.django_db
def test_a_satellite_that_says_its_time_at_last_gets_what_was_planned() -> None:
    hub = make_hub("n1")
    hub.plan()
    beat(hub, None)
    hub.work()
    beat(hub, 0.5)
    hub.work()

    assert TestRun.objects.get().state == RunState.DISPATCHED


@pytest.mark.django_db
def test_a_check_whose_clocks_are_off_closes_the_site() -> None:
    hub = make_hub()
    site = Site.objects.get()
    request_id = site_check.ask(site, store=hub.store, queue=hub.queue, now=hub.now)

    fact = checked({**AGREEING, ClockOwner.LOGIN_HOST: 61.0}, request_id)
    site_check.record(site, fact, hub.now, skew_s=0.0)

    site.refresh_from_db()
    assert not site.is_checked
    assert site.capabilities["findings"][-1]["probe"] == HUB_CLOCK
