"""What programs tell the hub: operations, limits, checks; and links to files."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from burnin.models import AuditEntry, ThresholdVersion
from burnin.models.limits import load_shipped
from burnin.tests.api.callers import API, caller, fill, post
from burnin.tests.factories import NOW, a_site, a_user, nodes_of
from burnin.tests.workflow.trouble import FakeQueue
from burnin.workflow import wiring
from fleet.access import Role
from fleet.models import HardwareOperation, Site
from runner.contract.slugs import Slugs

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
SWAP = {"site": "east", "node": "n1", "operation": "dimm-swap", "performed_at": NOW.isoformat()}
LIMIT: dict[str, Any] = {
    "slug": Slugs.MEMORY_STRESS,
    "resource_class": "cpu-generic",
    "reason": "we accept none",
}


@pytest.fixture
def queue(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeQueue:
    settings.STORE = f"local:{tmp_path / 'store'}"
    made = FakeQueue(timezone.now)
    monkeypatch.setattr(wiring, "site_queue", lambda: made)
    return made


@pytest.fixture
def site(queue: FakeQueue) -> Site:
    made = a_site("east")
    nodes_of(made, 1)
    return made


@pytest.fixture
def operator(site: Site) -> Client:
    return caller(a_user(Role.OPERATOR, site))


def test_an_operation_is_taken_down_with_who_reported_it(operator: Client) -> None:
    answer = post(operator, "hardware-operations", {**SWAP, "note": "slot B2"})

    assert answer.status_code == 201
    row = HardwareOperation.objects.get()
    assert (row.operation, row.note, row.performed_at) == ("dimm-swap", "slot B2", NOW)
    assert answer.json()["recorded_by"] == "ada"
    assert AuditEntry.objects.get().reason == "dimm-swap slot B2"


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"operation": "paint"}, 422, "there is no operation 'paint': it is one of node-swap"),
        ({"node": "n9"}, 422, "site east has no node 'n9': see /api/v1/nodes"),
        ({"site": "west"}, 403, "you may not operate a site 'west'"),
        ({"performed_at": "soon"}, 400, "performed_at: give a time like 2026-11-02T09:15:00Z"),
        ({"performed_at": "2999-01-01T00:00:00Z"}, 422, "it cannot have been done at 2999-01-01"),
    ],
)
def test_an_operation_that_cannot_be_meant_is_refused(
    operator: Client, change: dict[str, str], status: int, words: str
) -> None:
    answer = post(operator, "hardware-operations", {**SWAP, **change})

    assert answer.status_code == status
    assert answer.json()["error"].startswith(words)
    assert not HardwareOperation.objects.exists()


def test_an_admins_limits_are_the_version_in_force(site: Site) -> None:
    load_shipped()
    admin = caller(a_user(Role.ADMIN, site))
    shipped = ThresholdVersion.objects.get(
        slug=Slugs.MEMORY_STRESS, resource_class__name="cpu-generic"
    )
    metric, stated = next((m, b) for m, b in shipped.bounds.items() if "value" in b)
    change = {**stated, "source": "our own"}

    answer = post(admin, "thresholds", {**LIMIT, "changes": {metric: change}})

    assert answer.status_code == 201, answer.content
    assert answer.json()["label"] == "operator:1"
    assert answer.json()["bounds"][metric]["source"] == "our own"
    test = admin.get(f"{API}tests/{Slugs.MEMORY_STRESS}").json()
    assert test["thresholds"]["cpu-generic"]["label"] == "operator:1"


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"slug": "no-such"}, 422),
        ({"resource_class": "no-such"}, 422),
        ({"changes": {"no_such_metric": {"value": 1, "source": "x", "confidence": "high"}}}, 422),
        ({"changes": []}, 400),
        ({"changes": {"x": "\0"}}, 400),
        ({"reason": ""}, 400),
    ],
)
def test_limits_that_cannot_be_meant_are_refused(
    site: Site, change: dict[str, Any], status: int
) -> None:
    load_shipped()
    admin = caller(a_user(Role.ADMIN, site))
    count = ThresholdVersion.objects.count()

    answer = post(admin, "thresholds", {**LIMIT, "changes": {}, **change})

    assert answer.status_code == status
    assert len(answer.json()["error"].split()) > 3
    assert ThresholdVersion.objects.count() == count


def test_an_operator_does_not_edit_limits(operator: Client) -> None:
    answer = post(operator, "thresholds", {**LIMIT, "changes": {}})

    assert answer.status_code == 403
    assert answer.json()["error"].startswith("this takes the role admin, and you are operator")


def _heard_of() -> None:
    Site.objects.update(heartbeat_at=timezone.now())


def test_a_check_is_sent_to_the_site(operator: Client, site: Site, queue: FakeQueue) -> None:
    _heard_of()

    answer = post(operator, "sites/east/check")

    assert answer.status_code == 202
    site.refresh_from_db()
    assert site.capabilities["asked"]["request_id"] == answer.json()["request_id"]
    assert [name for name, _, _ in queue.sent] == ["east"]
    entry = AuditEntry.objects.get()
    assert (entry.user_name, entry.action, entry.site) == ("ada", "check site", site)


def test_a_site_that_is_silent_is_not_checked_and_the_answer_says_why(
    operator: Client, site: Site, queue: FakeQueue
) -> None:
    answer = post(operator, "sites/east/check")

    assert answer.status_code == 409
    assert answer.json()["error"].startswith("the check was not sent: no satellite of site east is")
    assert (queue.sent, AuditEntry.objects.count()) == ([], 0)


def test_without_a_broker_the_check_is_for_later(operator: Client, queue: FakeQueue) -> None:
    _heard_of()
    queue.is_reachable = False

    answer = post(operator, "sites/east/check")

    assert answer.status_code == 503
    assert answer.json()["error"].startswith("the check was not sent: ")


def test_a_site_says_why_it_takes_no_jobs(operator: Client, site: Site) -> None:
    Site.objects.update(heartbeat_at=timezone.now() + timedelta(minutes=5))
    alive = operator.get(f"{API}sites/east").json()["closed_because"]
    Site.objects.update(heartbeat_at=NOW)
    silent = operator.get(f"{API}sites/east").json()["closed_because"]
    Site.objects.update(checked_at=None)

    assert alive == ""
    assert silent == "no satellite of site east is alive: start it at the site"
    assert "has not passed a check" in operator.get(f"{API}sites/east").json()["closed_because"]


def test_a_link_reads_the_file_and_nothing_is_kept_of_it(operator: Client, site: Site) -> None:
    west = fill(a_site("west"), 1).runs.get()
    wiring.store().put(f"artifacts/{west.pk}/1/stdout.txt", b"hello")
    reader = caller(a_user(Role.VIEWER, None, name="eve"))
    artifact = reader.get(f"{API}artifacts?run={west.pk}").json()["results"][0]

    answer = reader.get(f"{API}artifacts/{artifact['id']}/link")

    assert answer["Cache-Control"] == "private, no-store"
    link = answer.json()["url"].replace("http://127.0.0.1:8000", "")
    assert b"".join(Client().get(link)) == b"hello"
    assert operator.get(f"{API}artifacts/{artifact['id']}/link").status_code == 404


def test_every_address_of_the_root_answers(operator: Client) -> None:
    found = operator.get(API).json()

    assert "jobs" in found
    for url in found.values():
        assert operator.get(url).status_code == 200, url
