"""Who is let into the API, and what each may do there."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta

import pytest
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from burnin.api.rate import CallerRate
from burnin.models import AuditEntry
from burnin.tests.api.callers import API, bearer, caller, post, text_of_token
from burnin.tests.factories import a_site, a_user
from fleet.access import Role
from fleet.models import ApiToken

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
REMOTE = "192.0.2.7"


def test_nobody_is_told_how_to_come_in() -> None:
    answer = Client().get(f"{API}sites")

    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"
    assert answer.json() == {
        "error": "nobody is logged in: send a token (Authorization: Bearer <token>), or log in"
    }


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "Basic eDp5", "Token abc", "\u00e4"])
def test_a_header_that_is_no_token_is_refused(header: str) -> None:
    answer = Client(headers={"authorization": header}).get(f"{API}sites")

    assert answer.status_code == 401
    assert answer.json() == {"error": "send your token as: Authorization: Bearer <token>"}


def test_an_unknown_token_is_refused_and_does_not_come_back() -> None:
    text = text_of_token(a_user())
    for unknown in ("x", text[:-1], text + "x", text[:12] + "x" * (len(text) - 12)):
        answer = bearer(unknown).get(f"{API}sites")

        assert answer.status_code == 401
        assert answer.json()["error"].startswith("this token is unknown: issue another")
        assert unknown not in answer.content.decode() or unknown == "x"


def test_a_revoked_an_expired_and_a_forsaken_token_say_so() -> None:
    user = a_user()
    text = text_of_token(user)
    ApiToken.objects.update(revoked_at=timezone.now())
    revoked = bearer(text).get(f"{API}sites")
    ApiToken.objects.update(revoked_at=None, expires_at=datetime(2026, 1, 1, tzinfo=UTC))
    expired = bearer(text).get(f"{API}sites")
    ApiToken.objects.update(expires_at=timezone.now() + timedelta(days=1))
    type(user).objects.update(is_active=False)
    forsaken = bearer(text).get(f"{API}sites")

    assert (revoked.status_code, expired.status_code, forsaken.status_code) == (401, 401, 401)
    assert revoked.json()["error"].startswith("this token was revoked: issue another")
    assert expired.json()["error"].startswith("this token expired at 2026-01-01 00:00 UTC: issue")
    assert forsaken.json()["error"].startswith("the user of this token is switched off")


def test_a_token_in_the_clear_from_another_machine_is_refused() -> None:
    client = caller(a_user(Role.VIEWER, None))

    answer = client.get(f"{API}sites", REMOTE_ADDR=REMOTE)

    assert answer.status_code == 403
    assert answer.json()["error"].startswith("tokens travel over HTTPS only")
    assert client.get(f"{API}sites", REMOTE_ADDR=REMOTE, secure=True).status_code == 200


def test_a_token_does_no_more_than_its_scopes() -> None:
    site = a_site()
    user = a_user(Role.ADMIN, None)

    reader, writer = caller(user, ["read"]), caller(user, ["operate"])

    assert reader.get(f"{API}sites").status_code == 200
    refused = post(reader, f"sites/{site.name}/check")
    assert refused.status_code == 403
    assert refused.json() == {
        "error": "this token has not the scope operate: issue one that has it"
    }
    assert writer.get(f"{API}sites").status_code == 403


def test_a_token_does_no_more_than_its_user() -> None:
    site = a_site()
    viewer = caller(a_user(Role.VIEWER, site))

    refused = post(viewer, f"sites/{site.name}/check")

    assert refused.status_code == 403
    assert refused.json() == {
        "error": "this takes the role operator, and you are viewer: ask an admin"
    }


def test_without_a_role_nothing_is_seen() -> None:
    answer = caller(a_user(None, None)).get(f"{API}sites")

    assert answer.status_code == 403
    assert answer.json()["error"].startswith("you have no role here: ask an admin")


def test_a_session_reads_and_needs_our_csrf_token_to_write() -> None:
    site = a_site()
    client = Client(enforce_csrf_checks=True)
    client.force_login(a_user(Role.OPERATOR, site))

    assert client.get(f"{API}sites").status_code == 200
    refused = post(client, f"sites/{site.name}/check")

    assert refused.status_code == 403
    assert refused.json()["error"].startswith("a write with a session needs its X-CSRFToken")


def test_a_caller_who_asks_too_often_is_told_when_to_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(CallerRate.THROTTLE_RATES, "caller", "2/min")
    cache.clear()
    client = caller(a_user(Role.VIEWER, None))

    answers = [client.get(f"{API}sites") for _ in range(3)]
    cache.clear()

    assert [each.status_code for each in answers] == [200, 200, 429]
    assert answers[2].json()["error"].startswith("too many requests: wait ")
    assert int(answers[2]["Retry-After"]) > 0


def test_the_use_of_a_token_is_noted() -> None:
    client = caller(a_user(Role.VIEWER, None))

    client.get(f"{API}sites")

    assert ApiToken.objects.get().used_at is not None


def test_a_token_is_issued_by_who_has_logged_in_and_shown_once() -> None:
    client = Client()
    client.force_login(a_user(Role.OPERATOR, None))

    made = post(client, "tokens", {"name": "nightly", "scopes": ["read"], "days": 7})

    assert made.status_code == 201
    assert made["Cache-Control"] == "no-store"
    text = made.json()["token"]
    token = ApiToken.find(text)
    assert token is not None
    assert (token.name, token.scopes) == ("nightly", ["read"])
    assert bearer(text).get(f"{API}sites").status_code == 200
    assert text not in client.get(f"{API}tokens").content.decode()
    assert text not in repr(list(AuditEntry.objects.values()))
    assert AuditEntry.objects.get().action == "issue token"


def test_a_token_cannot_make_another_nor_revoke_it() -> None:
    user = a_user(Role.ADMIN, None)
    client = caller(user)
    text_of_token(user, name="other")
    other = ApiToken.objects.get(name="other")

    made = post(client, "tokens", {"name": "more", "scopes": ["read"]})
    revoked = post(client, f"tokens/{other.prefix}/revoke")

    assert (made.status_code, revoked.status_code) == (403, 403)
    assert made.json()["error"].startswith("a token cannot issue another one: log in")
    assert revoked.json()["error"].startswith("a token can only revoke itself: log in")


def test_a_token_revokes_itself() -> None:
    user = a_user(Role.VIEWER, None)
    text = text_of_token(user)

    assert post(bearer(text), f"tokens/{text[:12]}/revoke").status_code == 400  # it says not why
    why = {"reason": "stolen laptop"}
    assert post(bearer(text), f"tokens/{text[:12]}/revoke", why).status_code == 200
    assert bearer(text).get(f"{API}sites").status_code == 401
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.reason) == ("revoke token", "stolen laptop")


def test_the_token_of_another_is_nobody_elses_business() -> None:
    text_of_token(a_user(Role.ADMIN, None, name="eve"))
    client = Client()
    client.force_login(a_user(Role.ADMIN, None))
    prefix = ApiToken.objects.get().prefix

    assert client.get(f"{API}tokens").json()["results"] == []
    assert post(client, f"tokens/{prefix}/revoke").status_code == 404


def test_the_command_issues_a_token_of_a_user() -> None:
    a_user(Role.VIEWER, None, name="robot")
    stdout = io.StringIO()

    call_command(
        "issue_api_token", "robot", "--name", "cron", "--scope", "read", "--days", "30",
        stdout=stdout,
    )  # fmt: skip

    assert bearer(stdout.getvalue().strip()).get(f"{API}sites").status_code == 200
    assert AuditEntry.objects.get().user_name == "manage.py issue_api_token"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nobody", "--name", "x"], "there is no user 'nobody'"),
        (["robot", "--name", " "], "a token needs a name"),
        (["robot", "--name", "x", "--days", "0"], "a token expires in the future"),
        (["robot", "--name", "x", "--days", "400"], "a token expires in the future"),
        (["robot", "--name", "x", "--days", "99999999999"], "a token expires in the future"),
    ],
)
def test_the_command_says_what_is_wrong(arguments: list[str], words: str) -> None:
    a_user(Role.VIEWER, None, name="robot")

    with pytest.raises(CommandError, match=words):
        call_command("issue_api_token", *arguments)

    assert not ApiToken.objects.exists()
