"""Cancel and re-run ask why, are refused to whoever may not, and leave an entry in the audit."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from burnin.models import AuditEntry, Job, TestRun
from burnin.models.audit import Actor
from burnin.models.job import JobState, JobVerdict
from burnin.models.limits import add_operators_version
from burnin.states import Verdict
from burnin.tests.dashboards.reading import body_of, page_text
from burnin.tests.factories import NOW, a_site, a_user, judge, nodes_of
from burnin.tests.jobs import planned_job
from fleet.access import Role
from fleet.models import Site
from runner.contract.slugs import Slugs

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
HELLO = Slugs.HELLO_WORLD
ACTS = ("cancel", "rerun-failed", "rerun-errored")


@pytest.fixture
def site() -> Site:
    return a_site()


@pytest.fixture
def ann(client: Client, site: Site, settings: Settings, tmp_path: Path) -> User:
    """An operator of the site, who is logged in."""
    settings.STORE = f"local:{tmp_path / 'store'}"
    user = a_user(Role.OPERATOR, site, name="ann")
    client.force_login(user)
    return user


def done_job(site: Site, *verdicts: Verdict) -> Job:
    job, runs = planned_job(nodes_of(site, len(verdicts)), HELLO)
    for place, verdict in enumerate(verdicts, start=1):
        judge([runs[f"n{place}", HELLO]], verdict)
    Job.objects.filter(pk=job.pk).update(
        state=JobState.DONE, verdict=JobVerdict.FAILED, finished_at=NOW
    )
    return job


def alive(site: Site) -> None:
    Site.objects.filter(pk=site.pk).update(heartbeat_at=timezone.now())


def test_cancelling_asks_why_and_keeps_who_said_so(client: Client, ann: User, site: Site) -> None:
    job, _ = planned_job(nodes_of(site, 2), HELLO)

    asked = page_text(client, f"/jobs/{job.pk}/cancel")
    answer = client.post(f"/jobs/{job.pk}/cancel", {"reason": "wrong rack"})

    assert "Cancel the job on 2 nodes" in asked
    assert answer["Location"] == f"/jobs/{job.pk}/"
    assert set(TestRun.objects.values_list("reason", flat=True)) == {"cancelled by ann: wrong rack"}
    entry = AuditEntry.objects.get()
    assert (entry.user, entry.action, entry.reason) == (ann, "cancel job", "wrong rack")


@pytest.mark.parametrize("act", ACTS)
def test_without_a_reason_nothing_happens_and_the_form_says_so(
    client: Client, ann: User, site: Site, act: str
) -> None:
    job = done_job(site, Verdict.FAILED)

    answer = client.post(f"/jobs/{job.pk}/{act}", {"reason": " "})

    assert answer.status_code == 409
    assert b"Say why it is" in answer.content
    assert not AuditEntry.objects.exists()


def test_a_job_that_is_done_cannot_be_cancelled(client: Client, ann: User, site: Site) -> None:
    job = done_job(site, Verdict.FAILED)

    answer = client.post(f"/jobs/{job.pk}/cancel", {"reason": "too slow"})

    assert answer.status_code == 409
    assert b"is done already" in answer.content
    assert b"too slow" in answer.content


def test_a_dialog_offers_only_what_can_be_done(client: Client, ann: User, site: Site) -> None:
    active, _ = planned_job(nodes_of(site, 1, prefix="m"), HELLO)
    done = done_job(site, Verdict.FAILED)

    cancel = page_text(client, f"/jobs/{done.pk}/cancel")
    rerun = page_text(client, f"/jobs/{active.pk}/rerun-failed")

    assert "nothing is left to cancel" in cancel and 'name="reason"' not in cancel
    assert "wait for its end" in rerun and 'name="reason"' not in rerun
    wanted = page_text(client, f"/jobs/{active.pk}/cancel")
    assert 'name="reason"' in wanted and '<button class="btn danger">Cancel job' in wanted
    assert '<button class="btn main">Re-run' in page_text(client, f"/jobs/{done.pk}/rerun-failed")


@pytest.mark.parametrize(("act", "node"), [("rerun-failed", "n1"), ("rerun-errored", "n2")])
def test_a_rerun_is_a_new_job_of_the_nodes_in_trouble(
    client: Client, ann: User, site: Site, act: str, node: str
) -> None:
    alive(site)
    job = done_job(site, Verdict.FAILED, Verdict.ERRORED, Verdict.PASSED)

    answer = client.post(f"/jobs/{job.pk}/{act}", {"reason": "reseated"})

    again = Job.objects.exclude(pk=job.pk).get()
    assert answer["Location"] == f"/jobs/{again.pk}/"
    assert [member.node.name for member in again.members.all()] == [node]
    assert AuditEntry.objects.get().object_id == str(job.pk)


@pytest.mark.parametrize("act", ["rerun-failed", "rerun-errored"])
def test_a_rerun_that_is_sent_twice_is_one_job(
    client: Client, ann: User, site: Site, act: str
) -> None:
    alive(site)
    job = done_job(site, Verdict.FAILED, Verdict.ERRORED)
    key = re.search(r'name="key" value="([^"]+)"', page_text(client, f"/jobs/{job.pk}/{act}"))
    assert key is not None
    said = {"reason": "reseated", "key": key[1]}

    first, again = (client.post(f"/jobs/{job.pk}/{act}", said) for _ in range(2))

    assert first["Location"] == again["Location"]
    assert Job.objects.count() == 2


def test_each_dialog_of_a_job_has_a_key_of_its_own(client: Client, ann: User, site: Site) -> None:
    job = done_job(site, Verdict.FAILED, Verdict.ERRORED)

    keys = re.findall(r'name="key" value="([^"]+)"', page_text(client, f"/jobs/{job.pk}/"))

    assert len(keys) == len(set(keys)) == len(ACTS)


def test_a_damaged_key_is_told(client: Client, ann: User, site: Site) -> None:
    alive(site)
    job = done_job(site, Verdict.FAILED)

    answer = client.post(f"/jobs/{job.pk}/rerun-failed", {"reason": "reseated", "key": "k"})

    assert (answer.status_code, Job.objects.count()) == (409, 1)
    assert b"This form is damaged: open the page again" in answer.content


def test_a_rerun_says_when_limits_have_changed_since(client: Client, ann: User, site: Site) -> None:
    job = done_job(site, Verdict.FAILED)
    pages = [f"/jobs/{job.pk}/", f"/jobs/{job.pk}/rerun-failed", f"/jobs/{job.pk}/rerun-errored"]
    assert not any("Limits have changed" in page_text(client, page) for page in pages)
    stated = {"value": 1, "source": "our policy", "confidence": "C"}
    add_operators_version(
        HELLO, "cpu-generic", {"responded": stated}, by=Actor("ann"), reason="because", now=NOW
    )

    for page in pages:
        text = page_text(client, page)
        assert "started: hello-world on cpu-generic. A re-run is judged by the old ones" in text
    assert f'href="/jobs/new?site={site.name}"' in text


def test_a_rerun_names_the_job_that_it_repeats(client: Client, ann: User, site: Site) -> None:
    alive(site)
    job = done_job(site, Verdict.FAILED)
    answer = client.post(f"/jobs/{job.pk}/rerun-failed", {"reason": "reseated"})

    assert f'repeats what <a class="mono" href="/jobs/{job.pk}/">' in page_text(
        client, answer["Location"]
    )
    assert "repeats what" not in page_text(client, f"/jobs/{job.pk}/")


def test_a_rerun_at_a_site_that_is_silent_says_why_not(
    client: Client, ann: User, site: Site
) -> None:
    job = done_job(site, Verdict.FAILED)

    answer = client.post(f"/jobs/{job.pk}/rerun-failed", {"reason": "reseated"})

    assert answer.status_code == 409
    assert b"No satellite of site east is alive" in answer.content


@pytest.mark.parametrize("act", ACTS)
def test_a_viewer_is_refused(client: Client, site: Site, act: str) -> None:
    client.force_login(a_user(Role.VIEWER, site))
    job = done_job(site, Verdict.FAILED)

    for answer in (client.get(f"/jobs/{job.pk}/{act}"), client.post(f"/jobs/{job.pk}/{act}")):
        assert answer.status_code == 403
        assert b"Only an operator of site east may do this" in answer.content
    assert "Re-run" not in page_text(client, f"/jobs/{job.pk}/")


@pytest.mark.parametrize("act", ACTS)
def test_an_operator_of_another_site_finds_nothing(client: Client, ann: User, act: str) -> None:
    job = done_job(a_site("west"), Verdict.FAILED)

    assert client.post(f"/jobs/{job.pk}/{act}", {"reason": "x"}).status_code == 404


@pytest.mark.parametrize("act", ACTS)
def test_a_stranger_is_sent_to_the_door(client: Client, site: Site, act: str) -> None:
    job = done_job(site, Verdict.FAILED)

    assert client.post(f"/jobs/{job.pk}/{act}")["Location"].startswith("/login?next=")


def test_the_page_offers_what_can_be_done(client: Client, ann: User, site: Site) -> None:
    active, _ = planned_job(nodes_of(site, 1), HELLO)
    text = page_text(client, f"/jobs/{active.pk}/")
    assert 'data-open="cancel"' in text
    assert 'data-open="rerun-failed"' not in text

    Job.objects.update(state=JobState.DONE, verdict=JobVerdict.PASSED, finished_at=NOW)

    text = page_text(client, f"/jobs/{active.pk}/")
    assert 'data-open="cancel"' not in text
    assert 'data-open="rerun-failed"' not in text


def test_a_done_job_offers_to_repeat_what_there_is(client: Client, ann: User, site: Site) -> None:
    job = done_job(site, Verdict.ERRORED)

    text = page_text(client, f"/jobs/{job.pk}/")

    assert 'data-open="rerun-errored"' in text
    assert 'data-open="rerun-failed"' not in text


def test_the_audit_shows_acts_at_the_visitors_sites_alone(
    client: Client, ann: User, site: Site
) -> None:
    job, _ = planned_job(nodes_of(site, 1), HELLO)
    client.post(f"/jobs/{job.pk}/cancel", {"reason": "wrong rack"})
    foreign, _ = planned_job(nodes_of(a_site("west"), 1), HELLO)
    AuditEntry.objects.create(
        at=NOW,
        user_name="bob",
        action="cancel job",
        object_kind="job",
        object_id=str(foreign.pk),
        site=foreign.site,
    )

    text = page_text(client, "/audit/")
    [row] = json.loads(body_of(client, "/audit/?export=json"))

    assert f'href="/jobs/{job.pk}/"' in text
    assert "bob" not in text
    assert (row["user"], row["action"], row["reason"]) == ("ann", "cancel job", "wrong rack")


def test_the_audit_is_narrowed(client: Client, ann: User, site: Site) -> None:
    assert "Nobody did anything yet" in page_text(client, "/audit/")
    job, _ = planned_job(nodes_of(site, 1), HELLO)
    client.post(f"/jobs/{job.pk}/cancel", {"reason": "wrong rack"})

    assert "wrong rack" in page_text(client, "/audit/?user=ann")
    assert "No entry is like that" in page_text(client, "/audit/?user=bob")
