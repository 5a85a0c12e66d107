"""What lets a site's satellite speak to the hub."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import datetime

from django.db import models

from fleet.models.inventory import Site

TOKEN_BYTES = 32
PREFIX_LENGTH = 12


class SiteToken(models.Model):
    """What a site's satellite shows to the hub. Only its hash is kept; the text is shown once."""

    site = models.ForeignKey(Site, on_delete=models.CASCADE, related_name="tokens")
    prefix = models.CharField(max_length=PREFIX_LENGTH, unique=True)
    digest = models.CharField(max_length=64, unique=True)
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("site", "-created_at")

    def __str__(self) -> str:
        return f"{self.prefix}… of {self.site}"

    @classmethod
    def issue(cls, site: Site) -> str:
        """Make a token for the site and return its text, which is not kept anywhere."""
        return cls.make(site)[1]

    @classmethod
    def make(cls, site: Site) -> tuple[SiteToken, str]:
        """Make a token for the site; return it with its text, which is not kept anywhere."""
        text = secrets.token_urlsafe(TOKEN_BYTES)
        digest = digest_of(text)
        return cls.objects.create(site=site, prefix=text[:PREFIX_LENGTH], digest=digest), text

    @classmethod
    def find(cls, text: str) -> SiteToken | None:
        """Return the token with this text, revoked or not; None if it is none of ours."""
        found = cls.objects.select_related("site").filter(prefix=text[:PREFIX_LENGTH]).first()
        if found is None or not hmac.compare_digest(found.digest, digest_of(text)):
            return None
        return found

    def revoke(self, now: datetime) -> None:
        type(self).objects.filter(pk=self.pk, revoked_at=None).update(revoked_at=now)


def digest_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
