"""The burn-in application."""

from django.apps import AppConfig


class BurninConfig(AppConfig):
    name = "burnin"
    verbose_name = "Burn-in"

    def ready(self) -> None:
        from burnin import checks  # noqa: F401  (registers the system checks)
        from burnin.models import standing_follows

        standing_follows.connect()
