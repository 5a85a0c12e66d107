"""Issues and revokes tokens of sites, and writes down who did."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from burnin.models import AuditEntry
from burnin.models.audit import Actor
from fleet.models import Site, SiteToken

ISSUE, REVOKE = "issue site token", "revoke site token"


def issue_site_token(site: Site, *, by: Actor, now: datetime) -> str:
    """Make a token for the site's satellite and return its text, which is kept nowhere."""
    with transaction.atomic():
        token, text = SiteToken.make(site)
        AuditEntry.objects.write(by, ISSUE, token, site=site, reason="", now=now)
    return text


def revoke_site_token(token: SiteToken, *, by: Actor, reason: str, now: datetime) -> bool:
    """Refuse whoever shows it from now on; say whether anybody could until now."""
    with transaction.atomic():
        standing = SiteToken.objects.select_for_update().get(pk=token.pk)
        if standing.revoked_at is not None:
            return False
        standing.revoke(now)
        AuditEntry.objects.write(by, REVOKE, token, site=token.site, reason=reason, now=now)
    return True
