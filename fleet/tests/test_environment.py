"""The environment becomes settings, or one sentence says why not."""

import sqlite3
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from fleet.environment import database, is_on, own_secret, words

REPOSITORY = Path(__file__).resolve().parents[2]


def test_a_secret_is_made_once_and_only_we_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "var" / "secret_key"

    with ThreadPoolExecutor(8) as pool:
        secrets = set(pool.map(lambda _: own_secret(path), range(16)))

    assert len(secrets) == 1
    assert len(secrets.pop()) >= 50
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in path.parent.iterdir()] == ["secret_key"]


def test_where_no_secret_can_be_kept_one_sentence_says_what_to_set(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(ImproperlyConfigured, match="set FLEET_SECRET_KEY, or FLEET_VAR_DIR"):
        own_secret(tmp_path / "file" / "secret_key")


def test_sqlite_writers_wait_and_readers_do_not_stop_them() -> None:
    config = database("sqlite:////tmp/fleet.sqlite3")

    assert config["NAME"] == "/tmp/fleet.sqlite3"
    assert config["OPTIONS"]["transaction_mode"] == "IMMEDIATE"
    assert "journal_mode=WAL" in config["OPTIONS"]["init_command"]


def test_postgresql_connections_are_kept_and_checked() -> None:
    config = database("postgres://hub:secret@db.example.com:5433/fleet")

    assert (config["ENGINE"], config["HOST"], config["PORT"], config["NAME"]) == (
        "django.db.backends.postgresql",
        "db.example.com",
        5433,
        "fleet",
    )
    assert config["CONN_HEALTH_CHECKS"] is True


@pytest.mark.parametrize("url", ["mongodb://hub:swordfish@host/x", "not a url"])
def test_an_unknown_database_is_refused_without_showing_its_password(url: str) -> None:
    with pytest.raises(ImproperlyConfigured) as refusal:
        database(url)

    assert "set it to postgres://" in str(refusal.value)
    assert "swordfish" not in str(refusal.value)


def test_lists_and_switches_are_read_leniently(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLEET_X", " a, b ,,c ")
    monkeypatch.setenv("FLEET_Y", "True")

    assert words("FLEET_X", "") == ["a", "b", "c"]
    assert words("FLEET_Z", "d") == ["d"]
    assert (is_on("FLEET_Y"), is_on("FLEET_Z")) == (True, False)


def test_a_new_hub_migrates_and_its_sqlite_keeps_a_write_ahead_log(tmp_path: Path) -> None:
    environment = {"FLEET_VAR_DIR": str(tmp_path), "PATH": "/usr/bin:/bin"}

    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity", "0"],
        cwd=REPOSITORY,
        env=environment,
        check=True,
        timeout=120,
    )

    with sqlite3.connect(tmp_path / "fleet.sqlite3") as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert (tmp_path / "secret_key").is_file()
