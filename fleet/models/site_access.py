"""Which sites a user may see; what may be done there is the user's role (`fleet/access.py`)."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.db.models import Q

from fleet.models.inventory import Site


class SiteAccess(models.Model):
    """One site that a user may see, or all of them. A user without a row sees nothing."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="site_access"
    )
    site = models.ForeignKey(
        Site, on_delete=models.CASCADE, null=True, blank=True, help_text="Empty: every site."
    )

    class Meta:
        ordering = ("user", "site")
        verbose_name_plural = "site access"
        constraints = (
            models.UniqueConstraint(fields=("user", "site"), name="fleet_site_access_once"),
            models.UniqueConstraint(
                fields=("user",), condition=Q(site=None), name="fleet_access_to_all_sites_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.user} at {self.site or 'every site'}"
