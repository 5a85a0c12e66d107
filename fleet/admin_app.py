"""Django's admin with our own site in it. Apart, for settings import it before any model."""

from django.contrib.admin.apps import AdminConfig


class FleetAdminConfig(AdminConfig):
    default_site = "fleet.admin_site.FleetAdminSite"
