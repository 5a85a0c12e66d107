"""`manage.py check` names what is missing or unsafe, and says what to do."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import CheckMessage, run_checks
from django.db.utils import ConnectionHandler
from pytest_django import DjangoDbBlocker

from fleet import checks
from fleet.environment import database

Check = Callable[[], Iterator[CheckMessage]]
SAFE: dict[str, Any] = {
    "SECRET_KEY": "s" * 50,
    "SECRET_KEY_IS_OWN": False,
    "DEBUG": False,
    "ALLOWED_HOSTS": ["fleet.example.com"],
    "PUBLIC_URL": "https://fleet.example.com",
    "BROKER_URL": "rediss://hub:secret@redis.example.com:6380/0",
    "STORE": "s3://bucket",
    "AWS_ACCESS_KEY_ID": "AK",
    "AWS_SECRET_ACCESS_KEY": "secret",
}


@pytest.fixture
def configured(settings: Any) -> Callable[..., None]:
    def configure(**changes: Any) -> None:
        for name, value in {**SAFE, **changes}.items():
            setattr(settings, name, value)

    return configure


def test_a_fresh_clone_is_clean() -> None:
    assert [each for each in run_checks() if (each.id or "").startswith("fleet.")] == []


def test_a_safe_public_hub_is_clean(configured: Callable[..., None]) -> None:
    configured()

    assert checks.environment_is_safe() == []


@pytest.mark.parametrize(
    ("changes", "number", "says"),
    [
        ({"SECRET_KEY_IS_OWN": True}, "E101", "is not set, and the hub has public addresses"),
        ({"SECRET_KEY": "short"}, "E101", "shorter than 32 characters"),
        ({"DEBUG": True}, "E102", "lets fleet.example.com in"),
        ({"DEBUG": True, "ALLOWED_HOSTS": ["*"]}, "E102", "lets * in"),
        ({"PUBLIC_URL": "http://fleet.example.com"}, "E103", "travel in the clear"),
        ({"PUBLIC_URL": "fleet.example.com"}, "E103", "no address of a web server"),
        ({"BROKER_URL": "redis://10.0.0.1:6379/0"}, "E105", "10.0.0.1 lets everybody in"),
        ({"BROKER_URL": "amqp://user:pw@host"}, "E105", "'amqp', which is no Redis"),
        ({"STORE": "ftp://host"}, "E106", "which is no store"),
        ({"STORE": "local:relative"}, "E106", "no absolute directory"),
        ({"STORE": "s3://"}, "E106", "names no bucket"),
        ({"STORE": "local:/proc/version/store"}, "E107", "cannot be written by this user"),
        ({"AWS_ACCESS_KEY_ID": ""}, "E108", "AWS_ACCESS_KEY_ID is not set"),
    ],
)
def test_each_danger_is_named_with_what_to_do(
    configured: Callable[..., None], changes: dict[str, Any], number: str, says: str
) -> None:
    configured(**changes)

    [message] = checks.environment_is_safe()

    assert message.id == f"fleet.{number}"
    assert says in message.msg
    assert message.hint


@pytest.mark.parametrize(
    "changes",
    [
        {"ALLOWED_HOSTS": ["localhost", "[::1]"], "SECRET_KEY_IS_OWN": True, "DEBUG": True},
        {"PUBLIC_URL": "http://127.0.0.1:8000"},
        {"BROKER_URL": "redis://127.0.0.1:6379/0"},
        {"BROKER_URL": "redis+socket:///run/redis.sock"},
    ],
)
def test_what_stays_on_this_machine_may_be_simple(
    configured: Callable[..., None], changes: dict[str, Any]
) -> None:
    configured(**changes)

    assert checks.environment_is_safe() == []


def test_a_store_that_is_not_there_yet_is_fine(
    configured: Callable[..., None], tmp_path: Path
) -> None:
    configured(STORE=f"local:{tmp_path}/not/yet")

    assert checks.environment_is_safe() == []


def test_no_message_shows_a_password(configured: Callable[..., None]) -> None:
    configured(BROKER_URL="amqp://user:swordfish@host", SECRET_KEY="swordfish")

    shown = " ".join(f"{each.msg} {each.hint}" for each in checks.environment_is_safe())

    assert "swordfish" not in shown


@pytest.mark.parametrize(("is_wal", "found"), [(True, []), (False, ["fleet.E104"])])
def test_a_sqlite_database_without_wal_is_named(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    django_db_blocker: DjangoDbBlocker,
    is_wal: bool,
    found: list[str],
) -> None:
    config = database(f"sqlite:///{tmp_path / 'fleet.sqlite3'}")
    config["OPTIONS"] = config["OPTIONS"] if is_wal else {}
    handler = ConnectionHandler({"default": config})
    monkeypatch.setattr(checks, "connections", handler)

    with django_db_blocker.unblock():
        messages = checks.sqlite_is_wal(databases=["default"])

    handler["default"].close()
    assert [each.id for each in messages] == found
    words = "has journal mode delete, not WAL"
    assert [words in each.msg for each in messages] == [True] * len(found)


@pytest.mark.django_db
def test_no_constraint_is_lost_on_either_database() -> None:
    assert run_checks(tags=["models"], databases=["default"]) == []
