"""Every admin page opens, costs the same whatever the fleet's size, and writes only what it may."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import connection, models
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from burnin.models import AuditEntry, Job, Preset, PresetStep, TestResult, TestRun, ThresholdVersion
from burnin.models.limits import load_shipped
from burnin.models.verdicts import RunVerdict, record_verdicts
from burnin.states import Cause, RunState, Verdict
from burnin.tests.models.world import (
    NOW,
    add_attempt,
    make_job,
    make_nodes,
    make_site,
    plan_runs,
)
from fleet.models import ApiToken, HardwareOperation, Node, ResourceClass, Site, SiteToken
from runner.contract.slugs import Slugs

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

OURS = [model for model in admin.site._registry if model._meta.app_label in ("fleet", "burnin")]
WRITTEN_BY_THE_WORKFLOW = (Job, TestRun, TestResult, ThresholdVersion, SiteToken, ApiToken)


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("ann"))
    return client


def _page(model: type[models.Model], kind: str, *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{kind}", args=args)


def _fleet(name: str, count: int) -> None:
    """Make a site with one judged run a node, and a row of everything else."""
    site = make_site(name)
    nodes, job = make_nodes(site, count), make_job(site)
    runs = plan_runs(job, nodes)
    verdicts = [RunVerdict(run, Verdict.SKIPPED, Cause.NONE, "drained") for run in runs]
    record_verdicts(verdicts, before=RunState.PLANNED, now=NOW)
    for run, node in zip(runs, nodes, strict=True):
        add_attempt(run)
        HardwareOperation.objects.create(node=node, operation="dimm-swap", performed_at=NOW)
        Preset.objects.create(name=f"{name}-{node.name}")
    SiteToken.issue(site)
    ApiToken.issue(
        User.objects.get(username="ann"),
        name=name,
        scopes=["read"],
        expires_at=NOW + timedelta(days=30),
        now=NOW,
    )


@pytest.mark.parametrize("model", OURS)
def test_a_list_costs_the_same_for_few_rows_and_for_many(
    operator: Client, model: type[models.Model]
) -> None:
    load_shipped()
    _fleet("east", 2)
    with CaptureQueriesContext(
        connection,
    ) as few:
        assert operator.get(_page(model, "changelist")).status_code == 200
    _fleet("west", 20)

    with CaptureQueriesContext(connection) as many:
        assert operator.get(_page(model, "changelist")).status_code == 200

    assert len(many) == len(few)


@pytest.mark.parametrize("model", OURS)
def test_each_row_opens(operator: Client, model: type[models.Model]) -> None:
    load_shipped()
    _fleet("east", 1)
    row = model._default_manager.first()
    assert row is not None

    assert operator.get(_page(model, "change", row.pk)).status_code == 200


@pytest.mark.parametrize("model", WRITTEN_BY_THE_WORKFLOW)
def test_what_the_workflow_writes_is_only_read(operator: Client, model: type[models.Model]) -> None:
    load_shipped()
    _fleet("east", 1)
    row = model._default_manager.first()
    assert row is not None

    assert operator.get(_page(model, "add")).status_code == 403
    assert operator.post(_page(model, "change", row.pk), {}).status_code == 403
    assert operator.post(_page(model, "delete", row.pk), {"post": "yes"}).status_code == 403


def test_a_token_is_shown_once_and_kept_nowhere(operator: Client) -> None:
    site = make_site()

    answer = operator.post(
        _page(Site, "changelist"), {"action": "issue_token", "_selected_action": [site.pk]}
    )

    shown = re.search(r"<pre>(.+)</pre>", answer.content.decode())
    assert shown is not None
    token = SiteToken.find(shown[1])
    assert token is not None
    assert token.site == site
    assert "no-store" in answer["Cache-Control"]
    assert AuditEntry.objects.get().action == "issue site token"
    later = operator.get(_page(SiteToken, "change", token.pk)).content.decode()
    assert shown[1] not in later
    assert token.digest not in later


def test_a_revoked_token_says_since_when_and_the_audit_why(operator: Client) -> None:
    SiteToken.issue(make_site())
    token = SiteToken.objects.get()
    asked = {"action": "revoke", "_selected_action": [token.pk]}

    assert "Why?" in operator.post(_page(SiteToken, "changelist"), asked).content.decode()
    assert SiteToken.objects.filter(pk=token.pk, revoked_at=None).exists()
    operator.post(
        _page(SiteToken, "changelist"), {**asked, "answered": "yes", "reason": "stolen laptop"}
    )

    token.refresh_from_db()
    assert token.revoked_at is not None
    [entry] = AuditEntry.objects.all()
    assert (entry.action, entry.user_name, entry.reason) == (
        "revoke site token",
        "ann",
        "stolen laptop",
    )


def test_a_users_token_is_revoked_for_a_reason(operator: Client) -> None:
    ada = User.objects.get(username="ann")
    token, _ = ApiToken.issue(
        ada, name="ci", scopes=["read"], expires_at=NOW + timedelta(days=9), now=NOW
    )
    asked = {"action": "revoke", "_selected_action": [token.pk]}

    assert "Why?" in operator.post(_page(ApiToken, "changelist"), asked).content.decode()
    assert ApiToken.objects.filter(pk=token.pk, revoked_at=None).exists()
    answered = {**asked, "answered": "yes", "reason": "stolen laptop"}
    operator.post(_page(ApiToken, "changelist"), answered)

    assert not ApiToken.objects.filter(pk=token.pk, revoked_at=None).exists()
    [entry] = AuditEntry.objects.all()
    assert (entry.action, entry.reason) == ("revoke token", "stolen laptop")


def test_a_token_is_of_one_site(operator: Client) -> None:
    sites = [make_site("east"), make_site("west")]

    operator.post(
        _page(Site, "changelist"),
        {"action": "issue_token", "_selected_action": [site.pk for site in sites]},
    )

    assert not SiteToken.objects.exists()


def _preset(**step: Any) -> dict[str, Any]:
    given = {
        "position": 1,
        "stage": 1,
        "slug": Slugs.MEMORY_STRESS,
        "params": "{}",
        "iterations": 1,
        "timeout_minutes": 5,
        "max_attempts": 2,
        "is_gate": "on",
        **step,
    }
    rows = {f"steps-0-{name}": value for name, value in given.items()}
    return {
        "name": "quick",
        "acceptances-TOTAL_FORMS": 0,
        "acceptances-INITIAL_FORMS": 0,
        "steps-TOTAL_FORMS": 1,
        "steps-INITIAL_FORMS": 0,
        **rows,
    }


def _accepting(*classes: ResourceClass) -> dict[str, Any]:
    rows = {f"acceptances-{at}-resource_class": each.pk for at, each in enumerate(classes)}
    return {**_preset(), "acceptances-TOTAL_FORMS": len(classes), **rows}


def test_a_preset_accepts_several_classes(operator: Client) -> None:
    one, other = (ResourceClass.objects.create(name=name) for name in ("h100", "h200"))

    operator.post(_page(Preset, "add"), _accepting(other, one))

    assert Preset.objects.get().accepts == ["h100", "h200"]
    assert "h100, h200" in operator.get(_page(Preset, "changelist")).content.decode()


def test_a_class_that_another_preset_accepts_is_refused(operator: Client) -> None:
    kind = ResourceClass.objects.create(name="h100")
    Preset.objects.create(name="full").acceptances.create(resource_class=kind)

    answer = operator.post(_page(Preset, "add"), _accepting(kind))

    assert "another preset accepts this class" in answer.content.decode()
    assert not Preset.objects.filter(name="quick").exists()


def test_the_hardware_of_a_class_is_ticked_and_what_cannot_be_is_refused(operator: Client) -> None:
    stated = {"name": "x", "gpus_per_node": "4", "gpu_maker": "AMD", "parts": ["nvme", "board"]}

    refused = operator.post(_page(ResourceClass, "add"), {**stated, "parts": ["nvlink"]})
    operator.post(_page(ResourceClass, "add"), stated)

    assert "only GPUs of NVIDIA have nvlink: leave it out" in refused.content.decode()
    kind = ResourceClass.objects.get()
    assert (kind.gpus_per_node, kind.gpu_maker, kind.parts) == (4, "AMD", ["nvme", "board"])


def test_a_preset_is_written_with_its_steps(operator: Client) -> None:
    operator.post(_page(Preset, "add"), _preset(params='{"duration_s": 90}'))

    assert PresetStep.objects.get().params == {"duration_s": 90}


@pytest.mark.parametrize(
    ("step", "says"),
    [
        ({"slug": "single-node.helo"}, "Select a valid choice"),
        ({"params": '{"duration": 90}'}, "there is no param"),
        ({"params": '{"duration_s": 1}'}, "the params of single-node.memory-stress do not fit"),
        ({"timeout_minutes": 0}, "Ensure this value is greater than or equal to 1"),
        ({"iterations": 10, "timeout_minutes": 10}, "memory-stress cannot end in time: 10 x dur"),
        ({"timeout_minutes": 99_999}, "the timeout in minutes must be between 1 and 10080"),
    ],
)
def test_a_bad_step_is_refused_and_nothing_is_half_written(
    operator: Client, step: dict[str, Any], says: str
) -> None:
    answer = operator.post(_page(Preset, "add"), _preset(**step))

    assert says in answer.content.decode()
    assert not Preset.objects.exists()


def test_a_second_preset_of_a_name_is_refused(operator: Client) -> None:
    Preset.objects.create(name="quick")

    answer = operator.post(_page(Preset, "add"), _preset())

    assert "Preset with this Name already exists" in answer.content.decode()
    assert Preset.objects.count() == 1


def test_an_operation_keeps_who_recorded_it(operator: Client) -> None:
    [node] = make_nodes(make_site(), 1)
    when = NOW - timedelta(days=1)

    operator.post(
        _page(HardwareOperation, "add"),
        {
            "node": node.pk,
            "operation": "dimm-swap",
            "performed_at_0": f"{when:%Y-%m-%d}",
            "performed_at_1": f"{when:%H:%M:%S}",
        },
    )

    recorded = HardwareOperation.objects.get()
    assert (str(recorded.recorded_by), recorded.performed_at) == ("ann", when)


def test_nodes_are_edited_where_slurm_has_no_say(operator: Client) -> None:
    [node] = make_nodes(make_site(), 1)

    answer = operator.post(
        _page(Node, "change", node.pk),
        {
            "site": node.site_id,
            "name": node.name,
            "resource_class": node.resource_class_id,
            "cpu_count": 8,
            "is_usable": "",
        },
    )

    node.refresh_from_db()
    assert (answer.status_code, node.cpu_count, node.is_usable) == (302, 8, True)
