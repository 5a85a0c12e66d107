"""Who is calling: a site, by its token, over a line that nobody else can read."""

from __future__ import annotations

from datetime import datetime, timedelta
from ipaddress import ip_address
from typing import TYPE_CHECKING

from django.contrib.auth.models import AnonymousUser
from django.db.models import Q
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from fleet.models import ApiToken, Site, SiteToken

if TYPE_CHECKING:  # REST framework's views load this module through the settings
    from rest_framework.views import APIView

SCHEME = "Bearer"
USED_AT_RESOLUTION = timedelta(minutes=1)
SITE_TOKEN_IN_THE_CLEAR = (
    "site tokens travel over HTTPS only: give the satellite an https:// URL; a proxy that ends TLS "
    "must set X-Forwarded-Proto, and FLEET_PUBLIC_URL must begin with https://"
)
# What a proxy adds. Behind one, the address that Django sees is the proxy's.
PROXIED = ("HTTP_FORWARDED", "HTTP_X_FORWARDED_FOR", "HTTP_X_FORWARDED_PROTO", "HTTP_VIA")


class SiteTokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`. `request.auth` is then the SiteToken, its site loaded."""

    def authenticate(self, request: Request) -> tuple[AnonymousUser, SiteToken]:
        require_private_line(request, SITE_TOKEN_IN_THE_CLEAR)
        token = SiteToken.find(_text(request))
        if token is None:
            raise AuthenticationFailed(
                "this site token is unknown: put the one that the hub issued into token_file"
            )
        if token.revoked_at is not None:
            raise AuthenticationFailed(
                f"this token of site {token.site.name} was revoked: issue a new one at the hub and "
                "put it into token_file"
            )
        note_use(token, timezone.now())
        return AnonymousUser(), token

    def authenticate_header(self, request: Request) -> str:
        return SCHEME


class IsSite(BasePermission):
    """Lets in whoever showed a site token, and nobody else."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        return isinstance(request.auth, SiteToken)


def site_of(request: Request) -> Site:
    """Return the site that IsSite has let in."""
    token: object = request.auth
    assert isinstance(token, SiteToken)
    return token.site


def require_private_line(request: Request, sentence: str) -> None:
    """Refuse a token that came in the clear from another machine: others have read it by now."""
    if not (request.is_secure() or _is_from_this_machine(request.META)):
        raise PermissionDenied(sentence)


def _is_from_this_machine(meta: dict[str, str]) -> bool:
    if any(header in meta for header in PROXIED):
        return False
    try:
        return ip_address(meta.get("REMOTE_ADDR", "")).is_loopback
    except ValueError:
        return False


def _text(request: Request) -> str:
    header: str = request.META.get("HTTP_AUTHORIZATION", "")
    scheme, _, text = header.partition(" ")
    if scheme.lower() != SCHEME.lower() or not text.strip():
        raise NotAuthenticated("send the site's token: Authorization: Bearer <token>")
    return text.strip()


def note_use(token: SiteToken | ApiToken, now: datetime) -> None:
    """Remember when the token was used, without a write for each request."""
    latest = now - USED_AT_RESOLUTION
    if token.used_at is None or token.used_at <= latest:
        unnoted = Q(used_at=None) | Q(used_at__lte=latest)
        type(token).objects.filter(unnoted, pk=token.pk).update(used_at=now)
