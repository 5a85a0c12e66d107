"""The two databases that every test of rows runs on: one SQLite, one PostgreSQL, made once."""

from __future__ import annotations

import os
from collections.abc import Callable

from django.contrib.contenttypes.models import ContentType
from django.db import connections
from django.db.backends.base.base import BaseDatabaseWrapper

from fleet.environment import database

KINDS = ("sqlite", "postgresql")
ALIAS = "default"
# Migrations take longer than many a test. What they lead to, models alone make in a moment.
MIGRATES = os.environ.get("FM_TEST_MIGRATE", "yes") == "yes"


class Databases:
    """Makes each kind when it is first used, and puts it in the place of the default one."""

    def __init__(self, postgres_url: Callable[[], str]) -> None:
        self._postgres_url = postgres_url
        self._made: dict[str, BaseDatabaseWrapper] = {}

    def use(self, kind: str) -> None:
        """Let the default database be of this kind."""
        if kind not in self._made:
            self._put(self._connection(kind))
            connections[ALIAS].creation.create_test_db(verbosity=0, autoclobber=True)
            self._made[kind] = connections[ALIAS]
        self._put(self._made[kind])
        ContentType.objects.clear_cache()

    def destroy(self) -> None:
        for wrapper in self._made.values():
            self._put(wrapper)
            name = str(wrapper.settings_dict["TEST"].get("OLD_NAME", ""))
            wrapper.creation.destroy_test_db(name, verbosity=0)

    def _connection(self, kind: str) -> BaseDatabaseWrapper:
        url = "sqlite:////nowhere/fleet" if kind == "sqlite" else self._postgres_url()
        config = {ALIAS: {**database(url), "TEST": {"MIGRATE": MIGRATES}}}
        connections.settings[ALIAS] = connections.configure_settings(config)[ALIAS]
        return connections.create_connection(ALIAS)

    def _put(self, wrapper: BaseDatabaseWrapper) -> None:
        connections.settings[ALIAS] = wrapper.settings_dict
        connections[ALIAS] = wrapper
