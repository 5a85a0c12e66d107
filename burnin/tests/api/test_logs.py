"""A run's log by byte offset, as its page reads it."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from burnin.models import Artifact, Attempt, TestRun
from burnin.states import RunState
from burnin.tests.api.callers import API, caller
from burnin.tests.factories import a_job, a_site, a_user, bring_to, judge, nodes_of
from burnin.tests.workflow.trouble import FakeQueue
from burnin.workflow import logs, wiring
from fleet.access import Role
from fleet.models import Site

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
TEXT = "one\nzwei µs\n"


@pytest.fixture
def queue(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeQueue:
    settings.STORE, settings.VAR_DIR = f"local:{tmp_path / 'store'}", tmp_path / "var"
    made = FakeQueue(timezone.now)
    monkeypatch.setattr(wiring, "site_queue", lambda: made)
    return made


@pytest.fixture
def site(queue: FakeQueue) -> Site:
    return a_site(heartbeat_at=timezone.now())


@pytest.fixture
def viewer(site: Site) -> Client:
    return caller(a_user(Role.VIEWER, site))


def collected(site: Site) -> TestRun:
    _, runs = a_job(nodes_of(site, 1))
    judge(runs)
    attempt = Attempt.objects.get()
    key = f"artifacts/{attempt.run_id}/1/stdout.txt"
    wiring.store().put(key, TEXT.encode())
    size = len(TEXT.encode())
    Artifact.objects.create(
        attempt=attempt, name="stdout.txt", key=key, size_bytes=size, sha256="0" * 64
    )
    return TestRun.objects.get()


def test_a_collected_log_is_read_piece_by_piece_and_no_character_is_cut(
    viewer: Client, site: Site
) -> None:
    run, read, at = collected(site), "", 0

    while True:
        answer = viewer.get(f"{API}runs/{run.pk}/log?offset={at}&limit=10").json()
        read, at = read + answer["content"], answer["next_offset"]
        if answer["is_final"] and at == answer["total"]:
            break

    assert read == TEXT


def test_a_log_that_grows_is_asked_for_at_its_site(
    viewer: Client, site: Site, queue: FakeQueue
) -> None:
    _, runs = a_job(nodes_of(site, 1))
    bring_to(runs, RunState.RUNNING)
    path = logs.path(Attempt.objects.get().token, "stdout.txt")
    path.parent.mkdir(parents=True)
    path.write_bytes(b"half a character: \xc2")

    answer = viewer.get(f"{API}runs/{runs[0].pk}/log").json()

    assert (answer["content"], answer["next_offset"], answer["total"]) == (
        "half a character: ", 18, 19,
    )  # fmt: skip
    assert (answer["is_final"], answer["waits_because"]) == (False, "")
    assert [name for name, _, _ in queue.sent] == ["east"]


def test_a_log_that_a_silent_site_has_says_why_nothing_comes(viewer: Client, site: Site) -> None:
    _, runs = a_job(nodes_of(site, 1))
    bring_to(runs, RunState.RUNNING)
    Site.objects.update(heartbeat_at=None)

    answer = viewer.get(f"{API}runs/{runs[0].pk}/log").json()

    assert answer["waits_because"].startswith("no satellite of site east has ever reported")


@pytest.mark.parametrize(
    ("query", "status"),
    [("name=secrets", 400), ("offset=-1", 400), ("limit=1", 400), ("limit=9999999", 400),
     ("attempt=7", 404)],
)  # fmt: skip
def test_a_senseless_question_is_told_so(
    viewer: Client, site: Site, query: str, status: int
) -> None:
    answer = viewer.get(f"{API}runs/{collected(site).pk}/log?{query}")

    assert answer.status_code == status
    assert len(answer.json()["error"].split()) > 3


def test_a_log_that_the_store_has_lost_is_told_so(viewer: Client, site: Site) -> None:
    run = collected(site)
    Artifact.objects.update(key=f"artifacts/{run.pk}/1/gone.txt")

    answer = viewer.get(f"{API}runs/{run.pk}/log")

    assert answer.status_code == 404
    assert answer.json()["error"] == "the log is not in the store any more"
