"""The inventory application."""

from django.apps import AppConfig
from django.db.models.signals import post_migrate


class FleetConfig(AppConfig):
    name = "fleet"

    def ready(self) -> None:
        from fleet import (  # noqa: F401
            access,
            celery,  # so that web and commands ring the hub's bells
            checks,  # registers the system checks
        )

        post_migrate.connect(access.make_groups, sender=self)
