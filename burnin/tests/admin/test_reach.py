"""Who may use the admin, what they see there, and what they may do."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.db import models
from django.test import Client
from django.urls import reverse

from burnin.models import Job, Preset, TestResult, TestRun
from burnin.models.limits import load_shipped
from burnin.models.verdicts import RunVerdict, record_verdicts
from burnin.states import Cause, RunState, Verdict
from burnin.tests.factories import NOW, a_class, a_job, a_preset, a_site, a_user, nodes_of
from fleet.access import Role
from fleet.models import ApiToken, HardwareOperation, Node, Site, SiteToken

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

OF_A_SITE = (Site, Node, SiteToken, HardwareOperation, Job, TestRun, TestResult)
FOR_ALL = [
    model
    for model in admin.site._registry
    if model._meta.app_label in ("fleet", "burnin") and model is not SiteToken
]


def _page(model: type[models.Model], kind: str, *args: Any) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{kind}", args=args)


def _staff(client: Client, role: Role | None, *sites: Site | None) -> User:
    user = a_user(role, *sites, name="eve")
    user.is_staff = True
    user.save()
    client.force_login(user)
    return user


def _site_with_everything(name: str) -> Site:
    site = a_site(name)
    nodes = nodes_of(site, 1, prefix=f"{name}-n")
    _, runs = a_job(nodes)
    verdict = RunVerdict(runs[0].pk, Verdict.SKIPPED, Cause.NONE, "drained")
    record_verdicts([verdict], before=RunState.PLANNED, now=NOW)
    HardwareOperation.objects.create(node=nodes[0], operation="dimm-swap", performed_at=NOW)
    SiteToken.issue(site)
    return site


def _row_of(model: type[models.Model], site: Site) -> models.Model:
    path = {Site: "pk", HardwareOperation: "node__site", TestResult: "run__site"}
    return model._default_manager.get(**{path.get(model, "site"): site.pk})


def test_a_stranger_is_sent_to_the_door_of_the_pages(client: Client) -> None:
    answer = client.get("/admin/", follow=True)

    assert answer.redirect_chain[-1][0] == "/login?next=/admin/"


@pytest.mark.parametrize("role", [None, Role.ADMIN])
def test_who_is_no_staff_or_has_no_role_is_told_so(client: Client, role: Role | None) -> None:
    user = _staff(client, role, None)
    user.is_staff = role is None
    user.save()

    answer = client.get("/admin/", follow=True)

    assert answer.status_code == 403
    assert "for staff with a role" in answer.content.decode()


@pytest.mark.parametrize("model", OF_A_SITE)
def test_another_sites_rows_are_not_there(client: Client, model: type[models.Model]) -> None:
    east, west = _site_with_everything("east"), _site_with_everything("west")
    _staff(client, Role.ADMIN, east)
    own, other = _row_of(model, east), _row_of(model, west)

    page = client.get(_page(model, "changelist")).content.decode()

    assert _page(model, "change", own.pk) in page
    assert _page(model, "change", other.pk) not in page
    assert client.get(_page(model, "change", own.pk)).status_code == 200
    assert client.get(_page(model, "change", other.pk)).status_code == 404
    assert client.post(_page(model, "change", other.pk), {}).status_code in (403, 404)
    assert client.post(_page(model, "delete", other.pk), {"post": "yes"}).status_code in (403, 404)
    assert type(other)._default_manager.filter(pk=other.pk).exists()


@pytest.mark.parametrize("model", [Node, SiteToken, Job, TestRun])
def test_no_filter_names_another_site(client: Client, model: type[models.Model]) -> None:
    east, _ = _site_with_everything("east"), _site_with_everything("secret-west")
    _staff(client, Role.ADMIN, east)

    assert "secret-west" not in client.get(_page(model, "changelist")).content.decode()


def test_no_node_can_be_moved_to_another_site(client: Client) -> None:
    east, west = a_site("east"), a_site("west")
    [node] = nodes_of(east, 1)
    _staff(client, Role.ADMIN, east)

    answer = client.post(
        _page(Node, "change", node.pk),
        {
            "site": west.pk,
            "name": node.name,
            "resource_class": node.resource_class_id,
            "gpu_uuids": "[]",
        },
    )

    assert "Select a valid choice" in answer.content.decode()
    node.refresh_from_db()
    assert node.site == east


def test_an_operation_on_another_sites_node_is_refused(client: Client) -> None:
    [other] = nodes_of(a_site("west"), 1)
    _staff(client, Role.OPERATOR, a_site("east"))

    answer = client.post(
        _page(HardwareOperation, "add"),
        {
            "node": other.pk,
            "operation": "dimm-swap",
            "performed_at_0": "2026-01-01",
            "performed_at_1": "12:00:00",
        },
    )

    assert "Select a valid choice" in answer.content.decode()
    assert not HardwareOperation.objects.exists()


@pytest.mark.parametrize("model", FOR_ALL)
def test_a_viewer_reads_and_writes_nothing(client: Client, model: type[models.Model]) -> None:
    load_shipped()
    site = _site_with_everything("east")
    a_preset("quick")
    viewer = _staff(client, Role.VIEWER, site)
    ApiToken.issue(viewer, name="ci", scopes=["read"], expires_at=NOW + timedelta(days=9), now=NOW)
    row = model._default_manager.first()
    assert row is not None

    assert client.get(_page(model, "changelist")).status_code == 200
    assert client.get(_page(model, "change", row.pk)).status_code == 200
    assert client.get(_page(model, "add")).status_code == 403
    assert client.post(_page(model, "change", row.pk), {}).status_code == 403
    assert client.post(_page(model, "delete", row.pk), {"post": "yes"}).status_code == 403


def test_a_viewer_sees_no_token_of_a_site(client: Client) -> None:
    _staff(client, Role.VIEWER, _site_with_everything("east"))

    assert client.get(_page(SiteToken, "changelist")).status_code == 403


def test_only_a_superuser_says_who_may_come_in(client: Client) -> None:
    _staff(client, Role.ADMIN, None)

    assert client.get(reverse("admin:auth_user_changelist")).status_code == 403
    assert client.get(reverse("admin:auth_user_add")).status_code == 403


def test_a_superuser_gives_a_user_a_site(client: Client) -> None:
    site = a_site()
    client.force_login(User.objects.create_superuser("root"))
    user = a_user(Role.VIEWER, name="new")

    page = client.get(reverse("admin:auth_user_change", args=(user.pk,)))
    fields = {
        "username": "new",
        "groups": [group.pk for group in user.groups.all()],
        "is_active": "on",
        "site_access-TOTAL_FORMS": 1,
        "site_access-INITIAL_FORMS": 0,
        "site_access-0-user": user.pk,
        "site_access-0-site": site.pk,
    }
    answer = client.post(reverse("admin:auth_user_change", args=(user.pk,)), fields)

    assert page.status_code == 200
    assert answer.status_code == 302
    assert [each.site for each in user.site_access.all()] == [site]


def test_a_site_is_added_by_who_sees_every_site(client: Client) -> None:
    east = a_site("east")
    a_site("west")
    _staff(client, Role.ADMIN, east)
    assert client.get(_page(Site, "add")).status_code == 403

    client.force_login(User.objects.create_superuser("root"))
    assert client.get(_page(Site, "add")).status_code == 200


def test_a_token_of_somebody_else_is_not_there(client: Client) -> None:
    other = a_user(Role.ADMIN, None, name="other")
    token, _ = ApiToken.issue(
        other, name="ci", scopes=["read"], expires_at=NOW + timedelta(days=9), now=NOW
    )
    _staff(client, Role.ADMIN, None)

    asked = {"action": "revoke", "_selected_action": [token.pk]}
    client.post(_page(ApiToken, "changelist"), {**asked, "answered": "yes", "reason": "not mine"})

    token.refresh_from_db()
    assert token.revoked_at is None
    assert client.get(_page(ApiToken, "change", token.pk)).status_code == 404


def test_a_preset_says_what_was_changed_and_by_whom(client: Client) -> None:
    a_class()
    preset = a_preset("quick")
    step = preset.steps.get()
    user = _staff(client, Role.ADMIN, None)
    client.post(
        _page(Preset, "change", preset.pk),
        {
            "name": "quick",
            "description": "shorter",
            "acceptances-TOTAL_FORMS": 1,
            "acceptances-INITIAL_FORMS": 0,
            "acceptances-0-resource_class": a_class().pk,
            "steps-TOTAL_FORMS": 1,
            "steps-INITIAL_FORMS": 1,
            "steps-0-id": step.pk,
            "steps-0-preset": preset.pk,
            "steps-0-position": 1,
            "steps-0-stage": 1,
            "steps-0-slug": step.slug,
            "steps-0-params": "{}",
            "steps-0-iterations": 1,
            "steps-0-timeout_minutes": 9,
            "steps-0-max_attempts": step.max_attempts,
            "steps-0-is_gate": "on",
        },
    )

    page = client.get(_page(Preset, "history", preset.pk)).content.decode()

    assert "timeout_minutes 5 → 9" in page
    assert "accepts cpu-generic" in page
    assert "description &#x27;&#x27; → &#x27;shorter&#x27;" in page
    assert user.username in page and "a program" in page
