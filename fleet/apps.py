"""The inventory application."""

from django.apps import AppConfig


class FleetConfig(AppConfig):
    name = "fleet"

    def ready(self) -> None:
        from fleet import celery  # noqa: F401  (so that web and commands ring the hub's bells)
