"""Jobs by program: started once however often asked, cancelled, and repeated."""

from __future__ import annotations

import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from burnin.models import AuditEntry, Job, TestRun
from burnin.models.limits import load_shipped
from burnin.states import Cause, Verdict
from burnin.tests.api.callers import API, caller, frozen_step, post
from burnin.tests.factories import a_job, a_preset, a_site, a_user, judge, nodes_of
from burnin.tests.workflow.trouble import FakeQueue
from burnin.workflow import wiring
from fleet.access import Role
from fleet.models import Node, Site
from runner.contract.slugs import Slugs

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
NEW: dict[str, Any] = {"site": "east", "preset": "quick", "nodes": ["n[1-2]"], "reason": "rack 7"}


@pytest.fixture
def site(settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A site that takes jobs now, of a hub with a real store in a directory and no broker."""
    settings.STORE = f"local:{tmp_path / 'store'}"
    queue = FakeQueue(timezone.now)
    monkeypatch.setattr(wiring, "site_queue", lambda: queue)
    load_shipped()
    a_preset("quick")
    made = a_site("east", heartbeat_at=timezone.now() + timedelta(minutes=5))
    nodes_of(made, 2)
    return made


@pytest.fixture
def operator(site: Site) -> Client:
    return caller(a_user(Role.OPERATOR, site))


def start(client: Client, body: dict[str, Any] = NEW, key: str = "k1") -> Any:
    return post(client, "jobs", body, **({"idempotency-key": key} if key else {}))


def test_a_job_is_planned_and_told_where_it_stands(operator: Client) -> None:
    answer = start(operator)

    assert answer.status_code == 201
    job = Job.objects.get()
    assert answer["Location"] == f"{API}jobs/{job.pk}"
    full = operator.get(answer["Location"]).json()
    assert [step["slug"] for step in full.pop("steps")] == [Slugs.HELLO_WORLD]
    assert answer.json() == full
    assert full["counts"] == [{"stage": 1, "key": "planned", "count": 2}]


def test_the_same_key_makes_one_job(operator: Client) -> None:
    first, again = start(operator), start(operator)

    assert (first.status_code, again.status_code) == (201, 200)
    assert again.json() == first.json()
    assert Job.objects.count() == 1
    assert AuditEntry.objects.get().token == "test"


def test_a_key_that_made_something_else_is_refused(operator: Client) -> None:
    start(operator)

    answer = start(operator, {**NEW, "nodes": ["n1"]})

    assert answer.status_code == 422
    assert "which asks for something else: take a new key" in answer.json()["error"]


def test_names_with_a_space_between_them_are_two_nodes(operator: Client) -> None:
    answer = start(operator, {**NEW, "nodes": ["n1 n2"]})

    assert (answer.status_code, answer.json()["node_count"]) == (201, 2)


def test_a_test_without_a_preset_is_started(operator: Client) -> None:
    steps = [{"slug": Slugs.HELLO_WORLD, "timeout_minutes": 5}]

    answer = start(operator, {"site": "east", "steps": steps, "nodes": ["n1"]})

    assert answer.status_code == 201
    assert answer.json()["preset"] is None
    assert TestRun.objects.get().slug == Slugs.HELLO_WORLD


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({"nodes": []}, 400, "nodes: name at least one"),
        ({"nodes": ["n[1-99999999]"]}, 400, "nodes: the node list names 99,999,999 nodes"),
        ({"nodes": ["n1", "n1"]}, 400, "nodes: the node list names n1 more than once"),
        ({"nodes": ["n9"]}, 422, "site east has no node n9: correct the name"),
        ({"preset": "no-such"}, 422, "there is no preset 'no-such': see /api/v1/presets"),
        ({"preset": None}, 400, "preset: give a value, or leave it out"),
        ({"steps": []}, 400, "steps: name at least one"),
        (
            {"steps": [{"slug": "x", "timeout_minutes": 5}]},
            400,
            "give either preset or steps",
        ),
        ({"prio": 1}, 400, "prio: there is no such field; there are site, preset, steps, nodes, r"),
        (
            {"steps": [{"slug": "x", "minutes": 5}]},
            400,
            "steps: 0: minutes: there is no such field; there are slug, timeout_minutes, params",
        ),
        ({"nodes": "n1"}, 400, 'nodes: send a JSON list, like ["a", "b"], not a text'),
        ({"site": ""}, 400, "site: say something, it is empty"),
        ({"site": ["east"]}, 400, 'site: send a text, like "a"'),
        ({"reason": "x" * 1001}, 400, "reason: at most 1000 characters are taken"),
        ({"steps": "x"}, 400, "steps: send a JSON list"),
        ({"steps": ["x"]}, 400, "steps: 0: send a JSON object, like {…}, not a text"),
        ({"steps": [{"timeout_minutes": 5}]}, 400, "steps: 0: slug: send it, it is missing"),
        (
            {"steps": [{"slug": "x", "timeout_minutes": "soon"}]},
            400,
            "steps: 0: timeout_minutes: send a whole number",
        ),
        (
            {"steps": [{"slug": "x", "timeout_minutes": 0}]},
            400,
            "steps: 0: timeout_minutes: send at least 1",
        ),
        (
            {"steps": [{"slug": "x", "timeout_minutes": 5, "is_gate": "perhaps"}]},
            400,
            "steps: 0: is_gate: send true or false",
        ),
        (
            {"steps": [{"slug": "x", "timeout_minutes": 5, "params": "none"}]},
            400,
            "steps: 0: params: send a JSON object, like {…}, not a text",
        ),
        ({"site": "west"}, 403, "you may not operate a site 'west': ask an admin"),
        ({"reason": "\0"}, 400, "reason: take the NUL characters out of it"),
    ],
)
def test_what_cannot_be_meant_makes_nothing(
    operator: Client, change: dict[str, Any], status: int, words: str
) -> None:
    a_site("west")

    answer = start(operator, {**NEW, **change})

    assert (answer.status_code, answer.json()["error"][: len(words)]) == (status, words)
    assert not Job.objects.exists()


def test_a_repeat_says_what_can_be_repeated(operator: Client) -> None:
    start(operator)

    answer = post(operator, f"jobs/{Job.objects.get().pk}/rerun", {"what": "all", "reason": "x"})

    assert answer.status_code == 400
    assert answer.json() == {"error": "what: 'all' is none of errored, failed"}


@pytest.mark.parametrize("key", ["", "\u00fc", "x" * 201])
def test_a_job_needs_a_key(operator: Client, key: str) -> None:
    answer = start(operator, key=key)

    assert answer.status_code == 400
    assert answer.json()["error"].startswith("send a header Idempotency-Key of 1 to 200")


def test_a_closed_site_takes_no_job(operator: Client, site: Site) -> None:
    Site.objects.update(is_enabled=False)

    answer = start(operator)

    assert (answer.status_code, answer.json()) == (
        422,
        {"error": "site east is switched off: enable it first"},
    )


@pytest.mark.parametrize(
    ("body", "kind", "status", "words"),
    [
        ("{", "application/json", 400, "the body is no JSON (Expecting property name"),
        ("[]", "application/json", 400, "send a JSON object, like {…}, not a list"),
        ("[" * 20_000, "application/json", 400, "the body is nested too deeply"),
        ("[" * 101 + "]" * 101, "application/json", 400, "the body is nested too deeply"),
        (
            "[" * 100 + "]" * 100,
            "application/json",
            400,
            "send a JSON object, like {…}, not a list",
        ),
        ('{"x": NaN}', "application/json", 400, "the body is no JSON ("),
        ("a=1", "application/x-www-form-urlencoded", 415, "send the body as Content-Type: appl"),
    ],
)
def test_a_body_that_is_no_json_object_is_refused(
    operator: Client, body: str, kind: str, status: int, words: str
) -> None:
    answer = operator.post(f"{API}jobs", body, content_type=kind, headers={"idempotency-key": "k"})

    assert answer.status_code == status
    assert answer.json()["error"].startswith(words)


def test_a_body_without_end_is_not_read(operator: Client) -> None:
    answer = operator.post(
        f"{API}jobs", "{}", content_type="application/json", CONTENT_LENGTH=str(5 << 20)
    )

    assert answer.status_code == 413
    assert "more than 4194304: send less at a time" in answer.json()["error"]


def test_a_job_is_cancelled_with_a_reason(operator: Client) -> None:
    job = start(operator).json()["id"]

    silent = post(operator, f"jobs/{job}/cancel", {"reason": " "})
    answer = post(operator, f"jobs/{job}/cancel", {"reason": "wrong rack"})
    late = post(operator, f"jobs/{job}/cancel", {"reason": "again"})

    assert silent.status_code == 400
    assert answer.status_code == 202
    assert answer.json()["cancel_reason"] == "cancelled by ada (token test): wrong rack"
    assert {each["key"] for each in answer.json()["counts"] if each["count"]} == {"skipped"}
    assert late.status_code == 409
    assert "is done already" in late.json()["error"]
    assert AuditEntry.objects.filter(action="cancel job").count() == 1


@pytest.mark.parametrize(
    ("verdict", "what", "status"),
    [
        (Verdict.FAILED, "failed", 201),
        (Verdict.ERRORED, "errored", 201),
        (Verdict.FAILED, "errored", 422),
        (Verdict.PASSED, "failed", 422),
    ],
)
def test_what_a_job_did_not_pass_is_repeated_as_a_new_job(
    operator: Client, site: Site, verdict: Verdict, what: str, status: int
) -> None:
    job, runs = a_job(list(site.nodes.all()), steps=[frozen_step()])
    judge(runs, verdict, cause=Cause.TEST)
    Job.objects.filter(pk=job.pk).update(
        state="done", verdict="incomplete", finished_at=timezone.now()
    )

    answer = post(operator, f"jobs/{job.pk}/rerun", {"what": what, "reason": "repaired"})

    assert answer.status_code == status, answer.content
    if status == 201:
        again = TestRun.objects.filter(job_id=answer.json()["id"])
        assert {run.rerun_of_id for run in again} == {run.pk for run in runs}
    else:
        assert "there is nothing to repeat" in answer.json()["error"]


def test_a_rerun_that_is_sent_again_with_its_key_answers_with_the_job_it_made(
    operator: Client, site: Site
) -> None:
    job, runs = a_job(list(site.nodes.all()), steps=[frozen_step()])
    judge(runs, Verdict.FAILED)
    done = {"state": "done", "verdict": "failed", "finished_at": timezone.now()}
    Job.objects.filter(pk=job.pk).update(**done)
    body, key = {"what": "failed", "reason": "repaired"}, {"Idempotency-Key": "k1"}

    first, again = (post(operator, f"jobs/{job.pk}/rerun", body, **key) for _ in range(2))

    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    bad = post(operator, f"jobs/{job.pk}/rerun", body, **{"Idempotency-Key": "k" * 201})
    assert (bad.status_code, Job.objects.count()) == (400, 2)


@pytest.mark.parametrize("act", ["cancel", "rerun"])
def test_a_job_of_another_site_is_not_there(operator: Client, act: str) -> None:
    west = a_site("west")
    job, _ = a_job(nodes_of(west, 1))

    answer = post(operator, f"jobs/{job.pk}/{act}", {"reason": "x", "what": "failed"})

    assert answer.status_code == 404
    assert answer.json() == {
        "error": "there is no such job, or none that you may see; see /api/v1/jobs"
    }


def test_there_is_no_job_of_that_id(operator: Client) -> None:
    assert operator.get(f"{API}jobs/{uuid.uuid4()}").status_code == 404
    assert operator.get(f"{API}jobs/7").status_code == 404
    assert "there is nothing at" in operator.get(f"{API}jobs/7").json()["error"]


def test_an_address_says_what_it_takes(operator: Client) -> None:
    answer = operator.delete(f"{API}jobs")

    assert answer.status_code == 405
    assert answer.json() == {"error": "this address takes GET, POST, HEAD, OPTIONS, not DELETE"}


def test_who_writes_to_a_wrong_address_is_told_so(operator: Client) -> None:
    answer = Client(enforce_csrf_checks=True).post(f"{API}jbos", {})

    assert answer.status_code == 404
    assert answer.json() == {"error": "there is nothing at /api/v1/jbos; see /api/v1/"}


def test_a_wrong_address_of_two_lines_is_told_in_the_same_shape(operator: Client) -> None:
    answer = operator.get(f"{API}jbos/a%0Ab")

    assert answer.status_code == 404
    assert "there is nothing at /api/v1/jbos/a" in answer.json()["error"]


def test_a_dry_run_shows_what_would_be_sent_and_writes_nothing(
    operator: Client, site: Site
) -> None:
    body = {"site": "east", "nodes": ["n[1-2]"], "steps": STEPS}
    Node.objects.filter(name="n2").update(excluded_because="on loan")

    answer = post(operator, "jobs/dry-run", body)

    shown = answer.json()
    assert answer.status_code == 200, shown
    assert (shown["usable"], shown["run_count"], shown["closed_because"]) == (["n1"], 1, "")
    assert shown["left_out"] == [{"node": "n2", "reason": "n2 is excluded: on loan"}]
    assert shown["steps"][0]["max_attempts"] == 3
    assert shown["omitted"] == []
    assert "#SBATCH --nodelist=n1" in shown["script"]
    assert (Job.objects.count(), AuditEntry.objects.count()) == (0, 0)


def test_a_dry_run_refuses_what_the_job_would_be_refused_for(operator: Client, site: Site) -> None:
    answer = post(operator, "jobs/dry-run", {"site": "east", "nodes": ["n99"], "steps": STEPS})

    assert answer.status_code == 422
    assert "site east has no node n99" in answer.json()["error"]


STEPS = [{"slug": Slugs.HELLO_WORLD, "timeout_minutes": 5, "max_attempts": 3}]
