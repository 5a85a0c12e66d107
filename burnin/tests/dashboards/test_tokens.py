"""A visitor's own tokens, on their page."""

from __future__ import annotations

import re

import pytest
from django.contrib.auth.models import User
from django.test import Client

from burnin.models import AuditEntry
from burnin.tests.api.callers import API, bearer, text_of_token
from burnin.tests.factories import a_user
from fleet.access import Role
from fleet.models import ApiToken

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
PAGE = "/account/tokens"


@pytest.fixture
def ada(client: Client) -> User:
    user = a_user(Role.VIEWER, None)
    client.force_login(user)
    return user


def test_a_token_is_shown_once_and_lets_in(client: Client, ada: User) -> None:
    answer = client.post(PAGE, {"name": "nightly", "scopes": ["read"], "days": "7"})

    shown = re.search(r"fm_[A-Za-z0-9_-]{43}", answer.content.decode())
    assert shown
    assert answer["Cache-Control"] == "no-store"
    assert bearer(shown[0]).get(f"{API}sites").status_code == 200
    assert shown[0] not in client.get(PAGE).content.decode()
    assert AuditEntry.objects.get().action == "issue token"


@pytest.mark.parametrize(
    "form",
    [
        {"name": "", "scopes": ["read"], "days": "7"},
        {"name": "x", "scopes": [], "days": "7"},
        {"name": "x", "scopes": ["everything"], "days": "7"},
        {"name": "x", "scopes": ["read"], "days": "400"},
    ],
)
def test_a_token_that_cannot_be_meant_is_not_issued(
    client: Client, ada: User, form: dict[str, str]
) -> None:
    answer = client.post(PAGE, form)

    assert b"errorlist" in answer.content
    assert not ApiToken.objects.exists()


def test_a_revoked_token_lets_nobody_in(client: Client, ada: User) -> None:
    text = text_of_token(ada)

    asked = client.get(f"{PAGE}/{text[:12]}/revoke")
    unsaid = client.post(f"{PAGE}/{text[:12]}/revoke", {"reason": " "})
    assert bearer(text).get(f"{API}sites").status_code == 200

    answer = client.post(f"{PAGE}/{text[:12]}/revoke", {"reason": "it leaked"}, follow=True)

    assert b"Revoke test" in asked.content
    assert (unsaid.status_code, b"Say why" in unsaid.content) == (400, True)
    assert b"test is revoked" in answer.content
    assert AuditEntry.objects.get(action="revoke token").reason == "it leaked"
    assert bearer(text).get(f"{API}sites").status_code == 401


def test_another_visitors_token_is_not_there(client: Client, ada: User) -> None:
    text = text_of_token(a_user(Role.ADMIN, None, name="eve"), name="of eve")

    assert b"of eve" not in client.get(PAGE).content
    assert client.post(f"{PAGE}/{text[:12]}/revoke").status_code == 404
