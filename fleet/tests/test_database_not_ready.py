"""A command that finds no tables says which database it looked at, and leaves no file behind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder
from django.db.utils import ConnectionHandler

from fleet.environment import database

ALIAS = "default"
COMMANDS = (
    ("issue_api_token", "ann", "--name", "nightly"),
    ("issue_site_token", "east"),
    ("load_catalogue",),
    ("load_inventory", "east"),
    ("site_check", "east"),
    ("hardware_tests", "debug", "00000000-0000-0000-0000-000000000000"),
    ("hardware_tests", "dispatch", "single-node.hello-world", "--site", "east", "--timeout", "5"),
)


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    """The file of the default database, which is not there."""
    path = tmp_path / "fleet.sqlite3"
    before = connections[ALIAS]
    connections[ALIAS] = ConnectionHandler({ALIAS: database(f"sqlite:///{path}")})[ALIAS]
    yield path
    connections[ALIAS].close()
    connections[ALIAS] = before


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_database_that_is_not_there_is_named_and_not_made(
    file: Path, words: tuple[str, ...]
) -> None:
    with pytest.raises(CommandError, match=r"set -a; \. var/one-machine/hub\.env") as refused:
        call_command(*words)

    assert str(refused.value).startswith(f"there is no database {file}: ")
    assert refused.value.returncode == 64
    assert not file.exists()


@pytest.mark.django_db
@pytest.mark.one_database
def test_a_database_without_tables_is_called_empty(file: Path) -> None:
    file.touch()

    with pytest.raises(CommandError, match=r"is empty: .*`manage.py migrate`"):
        call_command("site_check", "east")


@pytest.mark.django_db
@pytest.mark.one_database
def test_a_database_of_an_older_release_is_told_from_an_empty_one(file: Path) -> None:
    MigrationRecorder(connections[ALIAS]).record_applied("fleet", "0001_initial")

    with pytest.raises(CommandError, match=r"is older than this release: run `manage.py migrate`"):
        call_command("site_check", "east")


@pytest.mark.django_db
@pytest.mark.one_database
def test_a_file_that_is_no_database_is_one_sentence(file: Path) -> None:
    file.mkdir()

    with pytest.raises(CommandError, match=r"cannot be used .* see FLEET_DATABASE_URL"):
        call_command("site_check", "east")
