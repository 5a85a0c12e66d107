"""`site_check`: its words and its exit code."""

from __future__ import annotations

import io
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from burnin.models import AuditEntry
from burnin.satellite.messages import (
    CheckOrder,
    ClockOwner,
    ClockSeen,
    Finding,
    Message,
    SiteChecked,
)
from burnin.storage.memory import MemoryStore
from burnin.tests.models.world import make_site
from burnin.workflow import site_check, wiring
from burnin.workflow.site_queue import QueueUnreachable
from fleet.models import Site

pytestmark = pytest.mark.django_db

GOOD = Finding(probe="python on the node", passed=True, found="3.11.2")
BAD = Finding(probe="work_dir is shared", passed=False, words="/work is not the same on n1")


class AnsweringQueue:
    """Answers a check at once with these findings; None never answers."""

    def __init__(self, findings: tuple[Finding, ...] | None) -> None:
        self.findings = findings
        self.is_unreachable = False

    def send(self, site_name: str, task_name: str, order: Message, *, expires_s: int) -> None:
        if self.is_unreachable:
            raise QueueUnreachable("the broker did not answer: start Redis")
        assert isinstance(order, CheckOrder)
        if self.findings is not None:
            clocks = tuple(ClockSeen(whose=owner, ahead_s=0.0) for owner in ClockOwner)
            fact = SiteChecked(request_id=order.request_id, findings=self.findings, clocks=clocks)
            site = Site.objects.get(name=site_name)
            site_check.record(site, fact, datetime.now(UTC), skew_s=0.0)


class QuickClock(wiring.SystemClock):
    def sleep(self, seconds: float) -> None:
        """Not in tests."""


Said = tuple[int, str]


@pytest.fixture
def queue(monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path) -> AnsweringQueue:
    queue = AnsweringQueue((GOOD,))
    monkeypatch.setattr(wiring, "site_queue", lambda: queue)
    monkeypatch.setattr(wiring, "store", MemoryStore)
    monkeypatch.setattr(wiring, "SystemClock", QuickClock)
    return queue


@pytest.fixture
def check(queue: AnsweringQueue) -> Callable[..., Said]:
    site = make_site()
    reach = {"clock_skew_s": 0.0}
    Site.objects.filter(pk=site.pk).update(heartbeat_at=datetime.now(UTC), reach=reach)

    def call(*arguments: str) -> Said:
        stdout = io.StringIO()
        try:
            call_command("site_check", *arguments, stdout=stdout)
        except CommandError as error:
            return error.returncode, str(error)
        except SystemExit as ending:
            return int(str(ending.code)), stdout.getvalue()
        return 0, stdout.getvalue()

    return call


def test_a_site_whose_probes_are_good_can_take_jobs(check: Callable[..., Said]) -> None:
    code, said = check("east")

    assert code == 0
    assert "good  python on the node  3.11.2" in said
    assert said.endswith("site east can take jobs\n")
    assert Site.objects.get().is_checked


def test_who_asked_from_the_command_line_is_in_the_audit(check: Callable[..., Said]) -> None:
    check("east")

    entry = AuditEntry.objects.get()
    assert (entry.user_name, entry.action, entry.object_name) == (
        "the command line",
        "check site",
        "east",
    )


def test_a_failed_probe_is_named_and_the_site_stays_closed(
    check: Callable[..., Said], queue: AnsweringQueue
) -> None:
    queue.findings = (GOOD, BAD)

    code, said = check("east")

    assert code == 1
    assert "BAD   work_dir is shared  /work is not the same on n1" in said
    assert "site east cannot take jobs: these probes failed: work_dir is shared" in said
    assert not Site.objects.get().is_checked


def test_a_satellite_that_does_not_answer_is_waited_for_no_longer_than_asked(
    check: Callable[..., Said], queue: AnsweringQueue
) -> None:
    queue.findings = None

    code, said = check("east", "--wait", "0")

    assert code == 3
    assert said.startswith("site east has not answered: its satellite is alive; see its log")


def test_an_unknown_site_is_refused(check: Callable[..., Said]) -> None:
    assert check("west") == (64, "there is no site 'west' (known: east)")


def test_a_site_without_a_satellite_is_refused_at_once(check: Callable[..., Said]) -> None:
    Site.objects.update(heartbeat_at=None)

    code, said = check("east")

    assert code == 64
    assert said == "no satellite of site east has ever reported: start it at the site"


def test_a_satellite_that_does_not_say_its_time_is_refused_at_once(
    check: Callable[..., Said],
) -> None:
    Site.objects.update(reach={"clock_skew_s": None})

    code, said = check("east")

    assert code == 64
    assert said.startswith("the satellite of site east does not say what time it has")


def test_a_satellite_whose_clock_is_off_is_refused_at_once(check: Callable[..., Said]) -> None:
    Site.objects.update(reach={"clock_skew_s": -1200.0})

    assert check("east") == (
        64,
        "the clock of the satellite of site east is 1200 s behind the hub's: "
        "orders would be lost; set it by NTP",
    )


def test_a_site_that_is_switched_off_is_refused(check: Callable[..., Said]) -> None:
    Site.objects.update(is_enabled=False)

    assert check("east") == (64, "site east is switched off: enable it first")


def test_an_unreachable_broker_is_one_sentence(
    check: Callable[..., Said], queue: AnsweringQueue
) -> None:
    queue.is_unreachable = True

    assert check("east") == (64, "the broker did not answer: start Redis")
