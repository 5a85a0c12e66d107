"""Starting a job: nothing is sent before it was shown, and each start is one job."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from burnin.models import AuditEntry, Job, Preset, StepTime
from burnin.models.limits import load_shipped
from burnin.tests.dashboards.reading import page_text
from burnin.tests.factories import a_class, a_preset, a_site, a_user, nodes_of
from burnin.tests.jobs import planned_job
from fleet.access import Role
from fleet.models import Node, Site, SiteAccess
from runner.contract.slugs import Slugs

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
HELLO, MEMORY = Slugs.HELLO_WORLD, Slugs.MEMORY_STRESS
ASKED = {"preset": "quick", "site": "east", "by": "hostlist", "hosts": "n[1-3]"}


@pytest.fixture
def site() -> Site:
    made = a_site(heartbeat_at=timezone.now())
    nodes_of(made, 3)
    return made


@pytest.fixture
def preset() -> Preset:
    load_shipped()
    return a_preset("quick", HELLO, MEMORY)


@pytest.fixture
def ann(client: Client, site: Site, preset: Preset, settings: Settings, tmp_path: Path) -> User:
    """An operator of the site, who is logged in."""
    settings.STORE = f"local:{tmp_path / 'store'}"
    settings.VAR_DIR = tmp_path
    user = a_user(Role.OPERATOR, site, name="ann")
    client.force_login(user)
    return user


def dry_run(client: Client, **asked: Any) -> str:
    answer = client.get("/jobs/new", {**ASKED, **asked})
    assert answer.status_code == 200
    assert not Job.objects.exists()
    return answer.content.decode()


def test_the_form_offers_presets_and_the_operators_sites(client: Client, ann: User) -> None:
    a_site("west")

    text = page_text(client, "/jobs/new")

    assert "2 tests, at most 10 min a node" in text
    assert "east</option>" in text
    assert "west</option>" not in text


def test_a_site_that_takes_jobs_and_the_only_preset_are_offered(client: Client, ann: User) -> None:
    a_site("another", heartbeat_at=None)
    SiteAccess.objects.create(user=ann, site=None)

    text = page_text(client, "/jobs/new")

    assert '<option value="another">another, takes no jobs now</option>' in text
    assert '<option value="east" selected>east</option>' in text
    assert 'value="quick" required checked' in text


def test_of_several_presets_the_one_that_accepts_the_sites_nodes_is_offered(
    client: Client, ann: User
) -> None:
    a_preset("cpu", HELLO, accepts=a_class())
    a_preset("gpu", HELLO, accepts=a_class("h100"))

    text = page_text(client, "/jobs/new")

    assert 'value="cpu" required checked' in text
    assert text.count(" checked>") == 2  # the preset, and how nodes are named


def test_of_presets_that_accept_nothing_here_none_is_offered(client: Client, ann: User) -> None:
    a_preset("gpu", HELLO, accepts=a_class("h100"))

    assert " required checked" not in page_text(client, "/jobs/new")


def test_a_dry_run_shows_what_would_be_sent_and_what_is_left_out(client: Client, ann: User) -> None:
    Node.objects.filter(name="n2").update(
        is_usable=False, slurm_state="DRAINED", slurm_reason="fan 4 alarm"
    )
    Node.objects.filter(name="n3").update(excluded_because="sent back")

    text = dry_run(client)

    assert "Start on 1 node<" in text
    assert "2, if every node passes every gate" in text
    assert "Is drained in Slurm: fan 4 alarm" in text
    assert "Is excluded: sent back" in text
    assert "#SBATCH --nodelist=n1" in text
    assert "not measured yet; at most 10 min a node" in text


def test_a_dry_run_names_the_checks_that_a_class_is_not_asked_for(
    client: Client, ann: User, preset: Preset
) -> None:
    preset.steps.create(
        position=3,
        stage=3,
        slug=Slugs.NODE_HEALTH,
        timeout_minutes=5,
        params={"checks": ["cpu_count", "gpu_count", "active_rdma_ports"]},
    )

    text = dry_run(client)

    assert (
        "not asked of cpu-generic, which lacks the hardware: gpu_count, active_rdma_ports" in text
    )


def test_the_form_says_which_classes_a_preset_decides_about(
    client: Client, ann: User, preset: Preset
) -> None:
    for name in ("h200-8x", "h100-sxm5-8x"):
        preset.acceptances.create(resource_class=a_class(name))

    assert "Decides acceptance of h100-sxm5-8x, h200-8x" in page_text(client, "/jobs/new")


def test_a_dry_run_says_how_long_the_preset_took_before(
    client: Client, ann: User, preset: Preset, site: Site
) -> None:
    job, _ = planned_job(list(site.nodes.all()), HELLO, MEMORY, preset=preset)
    for step, slug in ((1, HELLO), (2, MEMORY)):
        StepTime.objects.create(job=job, stage=step, step=step, slug=slug, runs=2, seconds=240)

    text = client.get("/jobs/new", ASKED).content.decode()

    assert "about 4 min a node" in text
    assert "about 0.200 node-hours" in text


def test_nodes_can_be_chosen_by_class_and_standing(client: Client, ann: User, site: Site) -> None:
    nodes_of(site, 2, prefix="g", resource_class=a_class("h100"))
    asked = {"by": "filter", "hosts": "", "resource_class": "cpu-generic"}

    every = dry_run(client, **asked)
    untested = dry_run(client, **asked, place="untested")
    accepted = dry_run(client, **asked, place="accepted")

    assert "Start on 3 nodes" in every
    assert "Start on 3 nodes" in untested
    assert "Site east has no node like that." in accepted


@pytest.mark.parametrize("hosts", ["n1 n3", "n1\r\nn3\r\n", "n1, n3"])
def test_one_name_a_line_or_a_space_between_names_is_two_nodes(
    client: Client, ann: User, hosts: str
) -> None:
    assert "Start on 2 nodes" in dry_run(client, hosts=hosts)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"hosts": ""}, "Name at least one node"),
        ({"hosts": "n[1-"}, "Slurm&#x27;s form is n[1-4],n9"),
        ({"hosts": "n1 2"}, "has no node 2:"),
        ({"hosts": "n[1-9]"}, "has no node n4, n5, n6, n7, n8 and 1 more"),
        ({"site": "west"}, "You operate no such site"),
        ({"preset": "slow"}, "There is no such preset"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(
    client: Client, ann: User, asked: dict[str, str], sentence: str
) -> None:
    a_site("west")

    text = dry_run(client, **asked)

    assert sentence in text
    assert "Start on" not in text


def test_a_silent_site_is_shown_but_nothing_can_be_started(
    client: Client, ann: User, site: Site
) -> None:
    Site.objects.update(heartbeat_at=None)

    text = dry_run(client)

    assert "No satellite of site east has ever reported" in text
    assert '<button class="btn main" disabled>' in text
    assert client.post("/jobs/new", ASKED).status_code == 409
    assert not Job.objects.exists()


def test_a_started_job_is_audited_with_its_reason(client: Client, ann: User) -> None:
    answer = client.post("/jobs/new", {**ASKED, "reason": "RMA-7 came back"})

    job = Job.objects.get()
    assert answer["Location"] == f"/jobs/{job.pk}/"
    assert (job.node_count, job.requested_by) == (3, ann)
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.reason) == ("start job", "RMA-7 came back")


def test_a_form_that_is_sent_twice_starts_one_job(client: Client, ann: User) -> None:
    asked = {**ASKED, "key": str(uuid.uuid4())}

    first, second = (client.post("/jobs/new", asked)["Location"] for _ in range(2))

    assert first == second
    assert Job.objects.count() == 1


def test_a_senseless_start_starts_nothing(client: Client, ann: User) -> None:
    assert client.post("/jobs/new", {**ASKED, "hosts": "n[1-"}).status_code == 400
    assert not Job.objects.exists()


@pytest.mark.parametrize("role", [Role.VIEWER, None])
def test_whoever_operates_nothing_is_refused(
    client: Client, site: Site, preset: Preset, role: Role | None
) -> None:
    client.force_login(a_user(role, site))

    for answer in (client.get("/jobs/new"), client.post("/jobs/new", ASKED)):
        assert answer.status_code == 403
        assert b"Only an operator may start jobs" in answer.content


def test_a_dry_run_costs_the_same_for_many_nodes(client: Client, ann: User, site: Site) -> None:
    with CaptureQueriesContext(connection) as few:
        dry_run(client)
    nodes_of(site, 40, prefix="m")

    with CaptureQueriesContext(connection) as many:
        dry_run(client, hosts="n[1-3],m[1-40]")

    assert len(many) == len(few)
