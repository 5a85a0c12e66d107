"""Wrong passwords close the door for a while, to the right one too."""

from datetime import UTC, datetime

import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import Settings

from fleet.login_throttle import (
    PAUSE,
    PER_ADDRESS,
    PER_NAME,
    PER_NAME_AND_ADDRESS,
    WINDOW,
    note_failure,
    why_throttled,
)
from fleet.models import LoginFailure

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
RIGHT = {"username": "ada", "password": "correct horse battery"}


@pytest.fixture
def user() -> User:
    return User.objects.create_superuser("ada", password=RIGHT["password"])


def fail(times: int, name: str = "ada", address: str = "192.0.2.7") -> None:
    for _ in range(times):
        note_failure(name, address, NOW)


def test_one_wrong_password_too_many_closes_the_door_of_that_name_there() -> None:
    fail(PER_NAME_AND_ADDRESS - 1)
    assert why_throttled("ada", "192.0.2.7", NOW) == ""

    fail(1)

    assert why_throttled("ada", "192.0.2.7", NOW).startswith("too many wrong passwords: wait 10")
    assert why_throttled("eve", "192.0.2.7", NOW) == ""


def test_nobody_shuts_the_owner_of_a_name_out_from_elsewhere() -> None:
    for number in range(PER_NAME):
        fail(1, address=f"198.51.100.{number}")

    assert "for this name: wait 2 seconds" in why_throttled("ada", "192.0.2.7", NOW)
    assert why_throttled("ada", "192.0.2.7", NOW + PAUSE) == ""


def test_who_tries_many_names_is_shut_out_by_address() -> None:
    for number in range(PER_ADDRESS):
        fail(1, name=f"user-{number}")

    assert why_throttled("another", "192.0.2.7", NOW)
    assert why_throttled("another", "192.0.2.8", NOW) == ""


def test_what_is_long_ago_no_longer_counts_and_is_forgotten() -> None:
    fail(PER_NAME_AND_ADDRESS)

    assert why_throttled("ada", "192.0.2.7", NOW + WINDOW) == ""
    note_failure("eve", "192.0.2.7", NOW + WINDOW)
    assert LoginFailure.objects.count() == 1


@pytest.mark.parametrize("door", ["/login", "/admin/login/"])
def test_at_every_door_the_right_password_is_not_looked_at_either(user: User, door: str) -> None:
    client = Client()
    for _ in range(PER_NAME_AND_ADDRESS):
        client.post("/login", {**RIGHT, "password": "guess"})

    client.post(door, RIGHT)

    assert "_auth_user_id" not in client.session


def test_the_page_says_why(user: User) -> None:
    client = Client()
    for _ in range(PER_NAME_AND_ADDRESS):
        client.post("/login", {**RIGHT, "password": "guess"})

    assert b"too many wrong passwords: wait 10 minutes" in client.post("/login", RIGHT).content


def test_the_right_password_forgets_the_wrong_ones(user: User) -> None:
    client = Client()
    client.post("/login", {**RIGHT, "password": "guess"})

    client.post("/login", RIGHT)

    assert "_auth_user_id" in client.session
    assert not LoginFailure.objects.exists()


@pytest.mark.parametrize(
    ("proxies", "told", "noted"),
    [
        (0, "192.0.2.1", "127.0.0.1"),
        (1, "192.0.2.1, 198.51.100.9", "198.51.100.9"),
        (1, "", "127.0.0.1"),
        (2, "192.0.2.1, 198.51.100.9, 203.0.113.4", "198.51.100.9"),
        (2, "192.0.2.1", "127.0.0.1"),
    ],
)
def test_behind_stated_proxies_it_is_who_called_the_first(
    client: Client, settings: Settings, proxies: int, told: str, noted: str
) -> None:
    settings.PROXIES = proxies
    wrong = {**RIGHT, "password": "wrong"}

    client.post("/login", wrong, headers={"x-forwarded-for": told} if told else {})

    assert LoginFailure.objects.get().address == noted
