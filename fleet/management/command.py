"""A command of the hub: whatever stops it is one sentence and one exit code."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from fleet.management.database import DatabaseNotReady, require_tables

EXIT_BAD_INPUT = 64


class HubCommand(BaseCommand):
    """Works with the hub's rows, so it needs their tables."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            require_tables()
        except DatabaseNotReady as error:
            raise CommandError(str(error), returncode=EXIT_BAD_INPUT) from error
        return super().execute(*args, **options)
