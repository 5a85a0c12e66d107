"""The inventory application."""

from django.apps import AppConfig


class FleetConfig(AppConfig):
    name = "fleet"

    def ready(self) -> None:
        from fleet import (  # noqa: F401
            celery,  # so that web and commands ring the hub's bells
            checks,  # registers the system checks
        )
