"""Jobs are started, cancelled and repeated from the admin as from the pages."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.contrib.auth.models import Group, User
from django.contrib.messages import get_messages
from django.test import Client, override_settings
from django.urls import reverse
from django.utils import timezone

from burnin.models import AuditEntry, Job, TestRun
from burnin.models.limits import load_shipped
from burnin.models.verdicts import RunVerdict, record_verdicts
from burnin.states import Cause, RunState, Verdict
from burnin.tests.factories import a_job, a_preset, a_site, a_user, nodes_of
from fleet.access import Role
from fleet.models import Node, Site

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

JOBS = reverse("admin:burnin_job_changelist")
NODES = reverse("admin:fleet_node_changelist")


@pytest.fixture(autouse=True)
def _no_broker(tmp_path: Any) -> Any:
    """A store that answers, and a broker that does not: what is ordered waits in the database."""
    with override_settings(STORE=f"local:{tmp_path}", BROKER_URL="redis+socket:///nowhere.sock"):
        yield


@pytest.fixture
def site() -> Site:
    load_shipped()
    return a_site(heartbeat_at=timezone.now())


@pytest.fixture
def operator(client: Client, site: Site) -> User:
    user = a_user(Role.OPERATOR, site, name="ann")
    user.is_staff = True
    user.save()
    client.force_login(user)
    return user


def _answer(client: Client, page: str, action: str, rows: list[Any], **fields: Any) -> Any:
    chosen = {"action": action, "_selected_action": [row.pk for row in rows]}
    return client.post(page, {**chosen, "answered": "yes", **fields})


def _told(answer: Any) -> list[str]:
    return [str(each) for each in get_messages(answer.wsgi_request)]


def test_a_job_is_started_on_the_nodes_that_were_chosen(
    client: Client, operator: User, site: Site
) -> None:
    nodes = nodes_of(site, 3)
    preset = a_preset("quick")
    asked = client.post(
        NODES, {"action": "start_job", "_selected_action": [nodes[0].pk, nodes[2].pk]}
    )

    answer = _answer(
        client, NODES, "start_job", [nodes[0], nodes[2]], preset=preset.pk, reason="new memory"
    )

    job = Job.objects.get()
    assert "2 nodes: those that can be used are tested." in asked.content.decode()
    assert answer["Location"] == f"/jobs/{job.pk}/"
    assert sorted(each.node.name for each in job.members.all()) == ["n1", "n3"]
    assert job.requested_by == operator
    [entry] = AuditEntry.objects.all()
    assert (entry.action, entry.user_name, entry.reason) == ("start job", "ann", "new memory")


@pytest.mark.parametrize("missing", ["preset", "reason"])
def test_a_start_without_a_preset_or_a_reason_asks_again(
    client: Client, operator: User, site: Site, missing: str
) -> None:
    nodes = nodes_of(site, 1)
    fields = {"preset": a_preset("quick").pk, "reason": "new memory"} | {missing: ""}

    answer = _answer(client, NODES, "start_job", nodes, **fields)

    assert "This field is required" in answer.content.decode()
    assert not Job.objects.exists()


def test_a_refused_start_says_why_and_keeps_what_was_typed(
    client: Client, operator: User, site: Site
) -> None:
    nodes = nodes_of(site, 1)
    Site.objects.update(is_enabled=False)

    answer = _answer(
        client, NODES, "start_job", nodes, preset=a_preset("quick").pk, reason="new memory"
    )

    page = answer.content.decode()
    assert "site east is switched off: enable it first" in page
    assert "new memory" in page
    assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("action", "standing", "after", "written"),
    [
        ("leave_out", "", "on loan", "exclude node"),
        ("take_back", "on loan", "", "take node back"),
    ],
)
def test_a_node_is_left_out_and_taken_back_for_a_reason(
    client: Client, operator: User, site: Site, action: str, standing: str, after: str, written: str
) -> None:
    [node] = nodes_of(site, 1)
    Node.objects.update(excluded_because=standing)

    asked = client.post(NODES, {"action": action, "_selected_action": [node.pk]})
    _answer(client, NODES, action, [node], reason="on loan")

    assert "Why?" in asked.content.decode()
    node.refresh_from_db()
    assert node.excluded_because == after
    [entry] = AuditEntry.objects.all()
    assert (entry.action, entry.object_name, entry.reason) == (written, "n1", "on loan")


def test_a_machine_that_never_spoke_is_not_confirmed(
    client: Client, operator: User, site: Site
) -> None:
    answer = _answer(client, NODES, "confirm_identity", nodes_of(site, 1), reason="it was moved")

    assert _told(answer) == ["n1: n1 has not said yet which machine it is: run a test on it first"]
    assert not AuditEntry.objects.exists()


def test_no_form_changes_what_decides_whether_evidence_counts(
    client: Client, operator: User, site: Site
) -> None:
    operator.groups.set([Group.objects.get(name=Role.ADMIN)])
    [node] = nodes_of(site, 1)
    page = reverse("admin:fleet_node_change", args=(node.pk,))
    decides = {"dmi_serial": "forged", "machine_id": "forged", "excluded_because": "forged"}
    kept = {"site": site.pk, "name": "n1", "resource_class": node.resource_class.pk}

    answer = client.post(page, {**kept, **decides, "gpu_uuids": '["forged"]', "cpu_count": 8})

    assert answer.status_code == 302, answer.content.decode()
    node.refresh_from_db()
    assert node.cpu_count == 8
    assert "forged" not in (node.dmi_serial, node.machine_id, node.excluded_because)
    assert node.gpu_uuids != ["forged"]


def test_nodes_of_two_sites_are_no_job(client: Client, operator: User, site: Site) -> None:
    west = a_site("west")
    operator.site_access.create(site=west)
    nodes = [*nodes_of(site, 1), *nodes_of(west, 1)]

    answer = client.post(
        NODES, {"action": "start_job", "_selected_action": [node.pk for node in nodes]}
    )

    assert _told(answer) == ["Choose nodes of one site: a job is one site's."]


def test_a_job_is_cancelled_with_a_reason(client: Client, operator: User, site: Site) -> None:
    job, _ = a_job(nodes_of(site, 2))
    asked = client.post(JOBS, {"action": "cancel", "_selected_action": [job.pk]})
    assert "Why?" in asked.content.decode()
    job.refresh_from_db()
    assert job.state == "active"

    _answer(client, JOBS, "cancel", [job], reason="wrong nodes")

    job.refresh_from_db()
    assert (job.state, job.cancel_reason) == ("done", "cancelled by ann: wrong nodes")
    assert AuditEntry.objects.get().action == "cancel job"


def test_what_cannot_be_done_to_one_job_is_told_of_that_one(
    client: Client, operator: User, site: Site
) -> None:
    done, _ = a_job(nodes_of(site, 1))
    _answer(client, JOBS, "cancel", [done], reason="wrong nodes")
    active, _ = a_job(nodes_of(site, 1, prefix="m"))

    answer = _answer(client, JOBS, "cancel", [done, active], reason="both")

    told = " ".join(_told(answer))
    assert "is done already" in told and "cancelling" in told


@pytest.mark.parametrize(
    ("action", "verdict", "cause"),
    [
        ("rerun_the_failed", Verdict.FAILED, Cause.HARDWARE),
        ("rerun_the_errored", Verdict.ERRORED, Cause.INFRASTRUCTURE),
    ],
)
def test_what_was_not_passed_is_repeated(
    client: Client, operator: User, site: Site, action: str, verdict: Verdict, cause: Cause
) -> None:
    job = _judged_job(client, site, verdict, cause)

    _answer(client, JOBS, action, [job], reason="repaired")

    again = Job.objects.exclude(pk=job.pk).get()
    assert TestRun.objects.get(job=again).rerun_of in TestRun.objects.filter(job=job)
    entry = AuditEntry.objects.filter(action__startswith="re-run").get()
    assert (entry.user_name, entry.reason) == ("ann", "repaired")


def test_a_start_that_is_sent_twice_is_one_job(client: Client, operator: User, site: Site) -> None:
    nodes = nodes_of(site, 2)
    key = _key(client, NODES, "start_job", nodes)
    fields = {"preset": a_preset("quick").pk, "reason": "new memory", "key": key}

    first, again = (_answer(client, NODES, "start_job", nodes, **fields) for _ in range(2))

    assert first["Location"] == again["Location"]
    assert Job.objects.count() == 1


def test_reruns_that_are_sent_twice_are_one_job_each(
    client: Client, operator: User, site: Site
) -> None:
    job = _judged_job(client, site, Verdict.FAILED, Cause.HARDWARE)
    key = _key(client, JOBS, "rerun_the_failed", [job])

    for _ in range(2):
        _answer(client, JOBS, "rerun_the_failed", [job], reason="repaired", key=key)

    assert Job.objects.count() == 2


def _key(client: Client, url: str, action: str, rows: list[Any]) -> str:
    """Return the key in the form that asks for the rest."""
    asked = client.post(url, {"action": action, "_selected_action": [row.pk for row in rows]})
    found = re.search(r'name="key" value="([^"]+)"', asked.content.decode())
    assert found is not None
    return found[1]


def _judged_job(client: Client, site: Site, verdict: Verdict, cause: Cause) -> Job:
    nodes = nodes_of(site, 1)
    _answer(client, NODES, "start_job", nodes, preset=a_preset("quick").pk, reason="new")
    job = Job.objects.get()
    runs = [run.pk for run in TestRun.objects.filter(job=job)]
    now = timezone.now()
    moves = [RunState.DISPATCHED, RunState.SUBMITTED, RunState.RUNNING, RunState.FINISHED]
    before = RunState.PLANNED
    for after in moves:
        more: dict[str, Any] = {"attempt_number": 1} if after is RunState.DISPATCHED else {}
        TestRun.objects.move(runs, before, after, now=now, **more)
        before = after
    found = [RunVerdict(run, verdict, cause, "as the test says") for run in runs]
    record_verdicts(found, before=before, now=now)
    Job.objects.filter(pk=job.pk).update(state="done", finished_at=now, verdict="failed")
    return job


@pytest.mark.parametrize("action", ["cancel", "rerun_the_failed", "rerun_the_errored"])
def test_a_viewer_does_nothing_to_a_job(client: Client, site: Site, action: str) -> None:
    job, _ = a_job(nodes_of(site, 1))
    viewer = a_user(Role.VIEWER, site, name="eve")
    viewer.is_staff = True
    viewer.save()
    client.force_login(viewer)

    _answer(client, JOBS, action, [job], reason="because")

    job.refresh_from_db()
    assert job.state == "active"
    assert not AuditEntry.objects.exists()
    assert f'value="{action}"' not in client.get(JOBS).content.decode()


def test_an_operator_does_nothing_at_another_site(
    client: Client, operator: User, site: Site
) -> None:
    west = a_site("west", heartbeat_at=timezone.now())
    nodes = nodes_of(west, 1)
    job, _ = a_job(nodes)

    _answer(client, JOBS, "cancel", [job], reason="because")
    _answer(client, NODES, "start_job", nodes, preset=a_preset("quick").pk, reason="because")

    job.refresh_from_db()
    assert job.state == "active"
    assert Job.objects.count() == 1
    assert Node.objects.filter(site=west).count() == 1
