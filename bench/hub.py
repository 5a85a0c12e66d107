"""The hub's rows in this process: Django on the bench's own PostgreSQL."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module

import django
import psycopg
from django.core.management import call_command

from bench.place import Place

DATABASE = "bench"


def environment(place: Place) -> dict[str, str]:
    """Return the settings of the one hub that this process and the hub's own share."""
    return place.services.environment | {
        "FLEET_DATABASE_URL": place.services.database_url(DATABASE),
        "FLEET_VAR_DIR": str(place.home / "hub" / "var"),
        "FLEET_PUBLIC_URL": f"http://127.0.0.1:{place.port}",
        "FLEET_LOG_LEVEL": "WARNING",
        "DJANGO_SETTINGS_MODULE": "fleet.settings",
    }


@cache
def set_up(place: Place) -> None:
    """Make this process a part of the hub, with all tables and the shipped catalogue."""
    _drop_what_is_left(place)
    os.environ.update(environment(place))
    (place.home / "hub" / "var").mkdir(parents=True, exist_ok=True)
    django.setup()
    import_module("fleet.celery")  # so that bells rung here go into the hub's queue
    call_command("migrate", verbosity=0)
    call_command("load_catalogue", stdout=io.StringIO())


def _drop_what_is_left(place: Place) -> None:
    """Begin without the rows of an earlier bench that was told to keep its services."""
    with psycopg.connect(place.services.postgres_url, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {DATABASE} WITH (FORCE)")


@contextmanager
def nothing_left() -> Iterator[None]:
    """Leave no run behind that the hub's processes would take for theirs to carry."""
    try:
        yield
    finally:
        from django.db import connection

        with connection.cursor() as cursor:
            cursor.execute("TRUNCATE burnin_job CASCADE")
