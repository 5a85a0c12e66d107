"""Facts of a site: heartbeats, nodes, checks, and the logs of its runs."""

import uuid

import pytest

from burnin.models import TestRun
from burnin.satellite.messages import (
    ClockOwner,
    ClockSeen,
    Finding,
    Heartbeat,
    LogPart,
    NodeSeen,
    NodesSeen,
    SiteChecked,
)
from burnin.tests.workflow.facts import about, dispatched, post
from burnin.tests.workflow.simulated import make_hub
from burnin.workflow import logs, site_check
from fleet.models import Node, Site

pytestmark = pytest.mark.django_db


def test_a_heartbeat_counts_by_our_clock() -> None:
    hub = make_hub()

    post(hub, Heartbeat(at=hub.now.replace(year=1999), version="1", slurmctld="does not answer"))

    site = Site.objects.get()
    assert site.heartbeat_at == hub.now
    assert site.reach["slurmctld"] == "does not answer"


def test_nodes_are_noted_and_missing_ones_are_not_used() -> None:
    hub = make_hub("n1", "n2")
    drained = NodeSeen(
        name="n1",
        state="IDLE+DRAIN",
        reason="fan",
        is_usable=False,
        cpu_count=4,
        memory_mib=2000,
    )
    unknown = drained.model_copy(update={"name": "n9"})

    post(hub, NodesSeen(nodes=(drained, unknown)))

    n1, n2 = Node.objects.order_by("name")
    assert (n1.slurm_state, n1.slurm_reason, n1.is_usable) == ("IDLE+DRAIN", "fan", False)
    assert (n2.slurm_reason, n2.is_usable) == ("Slurm does not list it any more", False)


def test_a_log_is_kept_by_byte_offset() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()
    token = run.attempts.get().token

    for offset, content in ((0, b"aGVsbG8="), (5, b"d29ybGQ="), (0, b"aGVsbG8=")):
        part = {"name": "stdout.txt", "offset": offset, "content": content}
        post(hub, LogPart(**about(run, **part)))

    assert logs.read(token, "stdout.txt", offset=3, limit=100) == b"loworld"


def test_a_log_has_no_gap_where_a_part_was_lost() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()

    answer = post(hub, LogPart(**about(run, name="stdout.txt", offset=5, content=b"d29ybGQ=")))

    assert answer.acknowledged == ("0",)
    assert logs.size(run.attempts.get().token, "stdout.txt") == 0


@pytest.mark.parametrize(
    ("name", "offset", "words"),
    [("../../etc/passwd", 0, "is no log"), ("stdout.txt", 1 << 40, "would grow beyond")],
)
def test_a_log_part_stays_in_its_place_and_size(name: str, offset: int, words: str) -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()

    answer = post(hub, LogPart(**about(run, name=name, offset=offset, content=b"aGVsbG8=")))

    assert words in answer.refused[0].words


def checked(request_id: str, *, passed: bool = True) -> SiteChecked:
    return SiteChecked(
        request_id=request_id,
        findings=(Finding(probe="work-dir", passed=passed, found="shared"),),
        clocks=tuple(ClockSeen(whose=owner, ahead_s=0.0) for owner in ClockOwner),
    )


def test_a_good_check_opens_the_site_for_the_configuration_it_was_asked_for() -> None:
    hub = make_hub()
    Site.objects.update(checked_at=None, checked_configuration="")
    site = Site.objects.get()
    request_id = site_check.ask(site, store=hub.store, queue=hub.queue, now=hub.now)

    post(hub, checked(request_id))

    site.refresh_from_db()
    assert site.is_checked
    assert site.capabilities["findings"][0]["found"] == "shared"


def test_a_check_of_what_was_changed_meanwhile_opens_nothing() -> None:
    hub = make_hub()
    site = Site.objects.get()
    request_id = site_check.ask(site, store=hub.store, queue=hub.queue, now=hub.now)
    Site.objects.update(work_dir="/elsewhere")

    post(hub, checked(request_id))

    assert not Site.objects.get().is_checked


def test_a_bad_check_closes_the_site() -> None:
    hub = make_hub()
    request_id = site_check.ask(Site.objects.get(), store=hub.store, queue=hub.queue, now=hub.now)

    post(hub, checked(request_id, passed=False))

    assert not Site.objects.get().is_checked


def test_a_check_that_nobody_asked_for_is_refused() -> None:
    hub = make_hub()
    Site.objects.update(checked_at=None)

    answer = post(hub, checked(str(uuid.uuid4())))

    assert answer.refused
    assert not Site.objects.get().is_checked
