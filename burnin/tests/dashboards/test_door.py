"""Who gets in, and what every page may load."""

import pytest
from django.test import Client
from django.urls import reverse

from burnin.tests.factories import a_site, a_user
from fleet.access import Role

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


def test_a_stranger_is_sent_to_the_door_and_back_to_where_they_wanted(client: Client) -> None:
    answer = client.get("/")

    assert answer.status_code == 302
    assert answer["Location"] == "/login?next=/"


def test_the_door_opens_with_the_right_password(client: Client) -> None:
    a_user(Role.VIEWER, name="ada")

    answer = client.post(
        "/login?next=/", {"username": "ada", "password": "correct horse battery", "next": "/"}
    )

    assert (answer.status_code, answer["Location"]) == (302, "/")


def test_the_door_stays_shut_with_a_wrong_one_and_says_so(client: Client) -> None:
    a_user(Role.VIEWER, name="ada")

    answer = client.post("/login", {"username": "ada", "password": "guess"})

    assert b"Please enter a correct username and password" in answer.content


def test_logging_out_asks_for_a_post(client: Client) -> None:
    client.force_login(a_user())

    assert client.get(reverse("dashboards:logout")).status_code == 405
    assert client.post(reverse("dashboards:logout"))["Location"] == "/login"


def test_pages_load_and_run_nothing_but_our_own_files(client: Client) -> None:
    policy = client.get("/login")["Content-Security-Policy"]

    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy and "unsafe" not in policy


def test_an_account_without_a_role_is_told_whom_to_ask(client: Client) -> None:
    client.force_login(a_user(None, a_site()))

    page = client.get("/").content.decode()

    assert "You have no role here: ask an admin for one. A role says what you may do" in page
    assert "Start a job" not in page
