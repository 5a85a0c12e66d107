"""Wrong passwords cost time, wherever they are typed: pages and admin alike."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from fleet.models import LoginFailure
from fleet.models.site_token import digest_of

WINDOW = timedelta(minutes=10)
# Whoever knows a name can type wrong passwords for it, and must not shut its owner out by that:
# an address is shut out, and a name that many addresses try is only slowed down.
PER_NAME_AND_ADDRESS = 10
PER_ADDRESS = 100
PER_NAME = 50
PAUSE = timedelta(seconds=2)


class ThrottledBackend(ModelBackend):
    """Django's own users and passwords, but nobody gets in while too many were wrong."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> User | None:
        name, address, now = username or "", _address(request), timezone.now()
        if why_throttled(name, address, now):
            raise PermissionDenied  # the right password is not looked at either
        user = super().authenticate(request, username=username, password=password, **kwargs)
        if user is None and username is not None:
            note_failure(name, address, now)
        elif user is not None:
            forget_failures(name, address)
        return user


class ThrottledLoginForm(AuthenticationForm):
    """The form of every login: says why nobody is let in."""

    def clean(self) -> dict[str, Any]:
        name = str(self.cleaned_data.get("username") or "")
        if words := why_throttled(name, _address(self.request), timezone.now()):
            raise ValidationError(words, code="throttled")
        return super().clean()


def why_throttled(name: str, address: str, now: datetime) -> str:
    """Say that too many passwords were wrong; "" when another may be tried."""
    recent = LoginFailure.objects.filter(at__gt=now - WINDOW)
    of_name, here = recent.filter(name_digest=digest_of(name)), recent.filter(address=address)
    both = of_name.filter(address=address)
    if _reached(both, PER_NAME_AND_ADDRESS) or _reached(here, PER_ADDRESS):
        minutes = int(WINDOW.total_seconds() // 60)
        return f"too many wrong passwords: wait {minutes} minutes, then try again"
    if _reached(of_name, PER_NAME) and of_name.filter(at__gt=now - PAUSE).exists():
        seconds = int(PAUSE.total_seconds())
        return f"too many wrong passwords for this name: wait {seconds} seconds, then try again"
    return ""


def _reached(failures: QuerySet[LoginFailure], limit: int) -> bool:
    return failures[:limit].count() >= limit


def note_failure(name: str, address: str, now: datetime) -> None:
    """Remember a wrong password, and forget those that no longer count."""
    LoginFailure.objects.filter(at__lte=now - WINDOW).delete()
    LoginFailure.objects.create(name_digest=digest_of(name), address=address, at=now)


def forget_failures(name: str, address: str) -> None:
    """Forget what its owner mistyped here. What others try elsewhere still slows them down."""
    LoginFailure.objects.filter(name_digest=digest_of(name), address=address).delete()


def _address(request: HttpRequest | None) -> str:
    """Return who is calling; behind proxies that were stated, who called the first of them."""
    if request is None:
        return ""
    seen = str(request.META.get("REMOTE_ADDR", ""))
    if settings.PROXIES:
        # Each proxy adds whom it saw at the end; what stands before may be the caller's own words.
        told = str(request.META.get("HTTP_X_FORWARDED_FOR", "")).split(",")
        if len(told) >= settings.PROXIES:
            seen = told[-settings.PROXIES].strip() or seen
    return seen[:45]
