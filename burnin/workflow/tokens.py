"""Issues and revokes tokens of users, and writes down who did."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction

from burnin.models import AuditEntry
from burnin.models.audit import Actor
from fleet.models import ApiToken

ISSUE, REVOKE = "issue token", "revoke token"


def issue_token(
    user: User,
    *,
    name: str,
    scopes: Collection[str],
    expires_at: datetime,
    by: Actor,
    now: datetime,
) -> tuple[ApiToken, str]:
    """Make a token and return it with its text, which is kept nowhere. Raises BadToken."""
    with transaction.atomic():
        token, text = ApiToken.issue(user, name=name, scopes=scopes, expires_at=expires_at, now=now)
        reason = f"{', '.join(token.scopes)}, until {expires_at:%Y-%m-%d}"
        AuditEntry.objects.write(by, ISSUE, token, site=None, reason=reason, now=now)
    return token, text


def revoke_token(token: ApiToken, *, by: Actor, reason: str, now: datetime) -> None:
    """Let nobody in by it from now on. Asked again, changes nothing."""
    with transaction.atomic():
        if token.revoke(now):
            AuditEntry.objects.write(by, REVOKE, token, site=None, reason=reason, now=now)
