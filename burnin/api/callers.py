"""Who is calling: a user, by a token of theirs or by the session of their browser."""

from __future__ import annotations

from django.contrib.auth.models import User
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.request import Request

from burnin.api.authentication import SCHEME, note_use, require_private_line
from burnin.models.audit import Actor
from fleet.models import ApiToken

IN_THE_CLEAR = (
    "tokens travel over HTTPS only: call https://…, and revoke this one, which others may have "
    "read; a proxy that ends TLS must set X-Forwarded-Proto"
)
NEW_ONE = "issue another at /account/tokens or with `manage.py issue_api_token`"


class ApiTokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`. `request.auth` is then the ApiToken."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        """Return None for whoever shows no token at all. Raises what says how to come in."""
        header = str(request.META.get("HTTP_AUTHORIZATION", ""))
        if not header:
            return None
        scheme, _, text = header.partition(" ")
        if scheme.lower() != SCHEME.lower() or not text.strip():
            raise AuthenticationFailed("send your token as: Authorization: Bearer <token>")
        require_private_line(request, IN_THE_CLEAR)
        token, now = ApiToken.find(text.strip()), timezone.now()
        if token is None:
            raise AuthenticationFailed(f"this token is unknown: {NEW_ONE}")
        if why := token.why_refused(now):
            raise AuthenticationFailed(f"{why}: {NEW_ONE}")
        note_use(token, now)
        return token.user, token

    def authenticate_header(self, request: Request) -> str:
        return SCHEME


class BrowserSession(SessionAuthentication):
    """The cookie of who has logged in. A write needs the CSRF token of our pages as well."""

    def enforce_csrf(self, request: Request) -> None:
        try:
            super().enforce_csrf(request)
        except PermissionDenied as error:
            raise PermissionDenied(
                "a write with a session needs its X-CSRFToken header: send the csrftoken cookie's "
                "value in it, or use a token"
            ) from error


def actor_of(request: Request) -> Actor:
    """Return whom the audit names."""
    token: object = request.auth
    user = user_of(request)
    return Actor.of(user, token=token.name) if isinstance(token, ApiToken) else Actor.of(user)


def user_of(request: Request) -> User:
    """Return the user that a permission has let in."""
    assert isinstance(request.user, User)
    return request.user
