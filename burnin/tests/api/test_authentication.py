"""Who may speak for a site: whoever holds its token, over a line that nobody else reads."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django import Settings

from burnin.tests.api.conftest import FACTS, FakeRecorder, heartbeat
from burnin.tests.models.world import make_site
from fleet.models import Site, SiteToken

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)
REMOTE = {"REMOTE_ADDR": "192.0.2.7"}


def post(client: Client, **extra: Any) -> Any:
    body = {"facts": [heartbeat()]}
    return client.post(FACTS, body, content_type="application/json", **extra)


def bearer(text: str) -> Client:
    return Client(headers={"authorization": f"Bearer {text}"})


def test_a_token_speaks_for_its_own_site(recorder: FakeRecorder, site: Site) -> None:
    make_site("west")

    answer = post(bearer(SiteToken.issue(site)))

    assert answer.status_code == 200
    assert [told.name for told, _ in recorder.told] == ["east"]


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", "Basic eDp5", "Token abc", "abc", "Bearer\tabc"]
)
def test_without_a_token_nobody_is_heard(recorder: FakeRecorder, header: str) -> None:
    answer = post(Client(headers={"authorization": header}))

    assert answer.status_code == 401
    assert answer.json() == {"error": "send the site's token: Authorization: Bearer <token>"}
    assert answer.headers["WWW-Authenticate"] == "Bearer"
    assert recorder.told == []


def test_an_unknown_token_is_refused(recorder: FakeRecorder, token: str) -> None:
    for unknown in ("x", token[:-1], token + "x", token[:12] + "x" * (len(token) - 12), "\u00e4"):
        answer = post(bearer(unknown))

        assert answer.status_code == 401
        assert "this site token is unknown" in answer.json()["error"]
    assert recorder.told == []


def test_a_revoked_token_is_refused_and_told_so(
    recorder: FakeRecorder, site: Site, token: str
) -> None:
    SiteToken.objects.get().revoke(timezone.now())

    answer = post(bearer(token))

    assert answer.status_code == 401
    assert "this token of site east was revoked: issue a new one" in answer.json()["error"]
    assert recorder.told == []


def test_after_a_change_of_tokens_only_the_new_one_is_heard(
    recorder: FakeRecorder, site: Site, token: str
) -> None:
    newer = SiteToken.issue(site)
    SiteToken.objects.order_by("pk")[0].revoke(timezone.now())

    assert post(bearer(token)).status_code == 401
    assert post(bearer(newer)).status_code == 200


def test_a_token_never_comes_back_in_an_answer(recorder: FakeRecorder, token: str) -> None:
    answer = post(bearer(token + "x"))

    assert token not in answer.content.decode()


def test_the_use_of_a_token_is_noted_at_most_once_a_minute(
    recorder: FakeRecorder, satellite: Client
) -> None:
    post(satellite)
    noted = SiteToken.objects.get().used_at
    with CaptureQueriesContext(connection) as queries:
        post(satellite)

    assert noted is not None
    assert SiteToken.objects.get().used_at == noted
    assert [query for query in queries if "UPDATE" in query["sql"]] == []


def test_a_use_after_long_is_noted_again(recorder: FakeRecorder, satellite: Client) -> None:
    post(satellite)
    SiteToken.objects.update(used_at=LONG_AGO)

    post(satellite)

    used_at = SiteToken.objects.get().used_at
    assert used_at is not None
    assert used_at > LONG_AGO + timedelta(days=1)


def test_a_token_in_the_clear_from_another_machine_is_refused(
    recorder: FakeRecorder, satellite: Client
) -> None:
    answer = post(satellite, **REMOTE)

    assert answer.status_code == 403
    assert "site tokens travel over HTTPS only" in answer.json()["error"]
    assert recorder.told == []
    assert SiteToken.objects.get().used_at is None


@pytest.mark.parametrize("header", ["x-forwarded-for", "x-forwarded-proto", "forwarded", "via"])
def test_a_proxy_on_this_machine_makes_nobody_local(
    recorder: FakeRecorder, token: str, header: str
) -> None:
    client = Client(headers={"authorization": f"Bearer {token}", header: "http"})

    assert post(client).status_code == 403


def test_https_is_heard_from_anywhere(recorder: FakeRecorder, satellite: Client) -> None:
    assert post(satellite, secure=True, **REMOTE).status_code == 200


def test_a_proxy_that_ends_tls_is_heard_once_the_hub_knows_of_it(
    recorder: FakeRecorder, token: str, settings: Settings
) -> None:
    headers = {"authorization": f"Bearer {token}", "x-forwarded-proto": "https"}

    before = post(Client(headers=headers), **REMOTE)
    settings.SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
    after = post(Client(headers=headers), **REMOTE)

    assert (before.status_code, after.status_code) == (403, 200)


@pytest.mark.parametrize("address", ["127.0.0.1", "127.8.8.8", "::1"])
def test_loopback_may_speak_in_the_clear(
    recorder: FakeRecorder, satellite: Client, address: str
) -> None:
    assert post(satellite, REMOTE_ADDR=address).status_code == 200


@pytest.mark.parametrize("address", ["", "unix", "10.0.0.1", "128.0.0.1"])
def test_no_other_address_may(recorder: FakeRecorder, satellite: Client, address: str) -> None:
    assert post(satellite, REMOTE_ADDR=address).status_code == 403
