"""The burn-in application."""

from django.apps import AppConfig


class BurninConfig(AppConfig):
    name = "burnin"

    def ready(self) -> None:
        from burnin import checks  # noqa: F401  (registers the system checks)
