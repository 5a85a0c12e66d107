"""Every test that takes `database` runs on SQLite and on PostgreSQL."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connections, transaction
from pytest_django import DjangoDbBlocker, Settings

from deploy.cluster.testing import RealServices
from fleet.environment import database as configuration

SQLITE, POSTGRESQL = "sqlite", "postgresql"


@contextmanager
def default_database(config: dict[str, Any]) -> Iterator[None]:
    """Let the alias `default` mean another database."""
    before_config, before = connections.settings["default"], connections["default"]
    connections.settings["default"] = config
    connections["default"] = connections.create_connection("default")
    try:
        yield
    finally:
        connections["default"].close()
        connections.settings["default"], connections["default"] = before_config, before


@pytest.fixture(scope="session")
def postgresql(services: RealServices, django_db_blocker: DjangoDbBlocker) -> dict[str, Any]:
    """A migrated database of this process in the session's PostgreSQL."""
    url = services.database_url(f"workflow_{os.getpid()}")
    config = connections.configure_settings({"default": configuration(url)})["default"]
    with django_db_blocker.unblock(), default_database(config):
        call_command("migrate", verbosity=0)
    return config


@pytest.fixture(params=[SQLITE, POSTGRESQL])
def database(request: pytest.FixtureRequest, db: None) -> Iterator[str]:
    """The database under a test, empty; whatever the test writes is rolled back."""
    if request.param == SQLITE:
        yield SQLITE
        return
    with default_database(request.getfixturevalue("postgresql")), transaction.atomic():
        yield POSTGRESQL
        connections["default"].check_constraints()
        transaction.set_rollback(True)


@pytest.fixture(autouse=True)
def own_var_dir(settings: Settings, tmp_path: Any) -> None:
    settings.VAR_DIR = tmp_path / "var"
