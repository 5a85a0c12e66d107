"""Whether the database is one that a command can work with, asked before it does anything."""

from pathlib import Path

from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.utils import OperationalError

REMEDY = (
    "for the hub of `make run`, first say `set -a; . var/one-machine/hub.env; set +a`; "
    "for a new hub, `manage.py migrate` and `manage.py load_catalogue`"
)


class DatabaseNotReady(Exception):
    """There is no database, or it lacks tables. It says which one, and what to do."""


def require_tables() -> None:
    """Raise DatabaseNotReady unless every migration of this release was applied.

    SQLite makes the file that it is asked to open: one that is not there is not opened.
    """
    name = str(connection.settings_dict["NAME"])
    if _is_file_of_sqlite() and not Path(name).exists():
        raise DatabaseNotReady(f"there is no database {name}: {REMEDY}")
    try:
        executor = MigrationExecutor(connection)
        lacks = executor.migration_plan(executor.loader.graph.leaf_nodes())
    except OperationalError as error:
        words = " ".join(str(error).split())
        raise DatabaseNotReady(
            f"the hub's database cannot be used ({words}): see FLEET_DATABASE_URL"
        ) from error
    if lacks and not executor.loader.applied_migrations:
        raise DatabaseNotReady(f"the database {name} is empty: {REMEDY}")
    if lacks:
        raise DatabaseNotReady(
            f"the database {name} is older than this release: run `manage.py migrate`"
        )


def _is_file_of_sqlite() -> bool:
    return connection.vendor == "sqlite" and not connection.is_in_memory_db()  # type: ignore[attr-defined]
