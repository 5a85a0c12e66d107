"""What a script shows to the hub instead of a password."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Collection
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth.models import User
from django.db import models

from fleet.models.site_token import digest_of

MARK = "fm_"  # so that whoever finds one in a log or a repository knows what it is
TOKEN_BYTES = 32
PREFIX_LENGTH = 12
LONGEST_LIFE = timedelta(days=366)


class Scope(models.TextChoices):
    """What a token may be used for, at most: its user's role and sites bound it too."""

    READ = "read"
    OPERATE = "operate"  # start, cancel and re-run jobs, report operations, check sites
    ADMIN = "admin"  # edit limits


class BadToken(ValueError):
    """The token cannot be issued. The message says what to change; nothing was written."""


class ApiToken(models.Model):
    """A user's token. Only its hash is kept; the text is shown once."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens"
    )
    name = models.CharField(max_length=100, help_text="What it is for.")
    prefix = models.CharField(max_length=PREFIX_LENGTH, unique=True)
    digest = models.CharField(max_length=64, unique=True)
    scopes = models.JSONField(default=list)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    revoked_at = models.DateTimeField(null=True, blank=True)
    used_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.prefix}… ({self.name}) of {self.user}"

    @classmethod
    def issue(
        cls,
        user: User,
        *,
        name: str,
        scopes: Collection[str],
        expires_at: datetime,
        now: datetime,
    ) -> tuple[ApiToken, str]:
        """Make a token and return it with its text, which is not kept anywhere. Raises BadToken."""
        _refuse_bad(name, scopes, expires_at, now)
        text = MARK + secrets.token_urlsafe(TOKEN_BYTES)
        token = cls.objects.create(
            user=user,
            name=name.strip(),
            prefix=text[:PREFIX_LENGTH],
            digest=digest_of(text),
            scopes=[scope.value for scope in Scope if scope in scopes],
            expires_at=expires_at,
        )
        return token, text

    @classmethod
    def find(cls, text: str) -> ApiToken | None:
        """Return the token with this text, whatever became of it; None if it is none of ours."""
        found = cls.objects.select_related("user").filter(prefix=text[:PREFIX_LENGTH]).first()
        if found is None or not hmac.compare_digest(found.digest, digest_of(text)):
            return None
        return found

    def allows(self, scope: Scope) -> bool:
        return scope.value in self.scopes

    def why_refused(self, now: datetime) -> str:
        """Say why nobody may use it now; "" when its user may."""
        if self.revoked_at is not None:
            return "this token was revoked"
        if self.expires_at <= now:
            return f"this token expired at {self.expires_at:%Y-%m-%d %H:%M} UTC"
        if not self.user.is_active:
            return "the user of this token is switched off"
        return ""

    def revoke(self, now: datetime) -> bool:
        """Let nobody in by it from now on; say whether anybody could until now."""
        standing = type(self).objects.filter(pk=self.pk, revoked_at=None)
        return bool(standing.update(revoked_at=now))


def _refuse_bad(name: str, scopes: Collection[str], expires_at: datetime, now: datetime) -> None:
    if not name.strip():
        raise BadToken("a token needs a name: say what it is for")
    if len(name.strip()) > 100 or "\0" in name:
        raise BadToken("the name of a token has at most 100 printable characters")
    if not scopes:
        raise BadToken(f"a token needs a scope: {', '.join(Scope.values)}")
    if unknown := [each for each in scopes if each not in Scope.values]:
        raise BadToken(f"there is no scope {unknown[0]!r:.40}; there are {', '.join(Scope.values)}")
    if not now < expires_at <= now + LONGEST_LIFE:
        raise BadToken(f"a token expires in the future, at most {LONGEST_LIFE.days} days from now")
