"""How often one caller may ask."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.request import Request
from rest_framework.throttling import SimpleRateThrottle

from fleet.models import ApiToken

if TYPE_CHECKING:  # REST framework's views load this module through the settings
    from rest_framework.views import APIView


class CallerRate(SimpleRateThrottle):
    """A rate for each token, and for each user without one. Every web process counts by itself."""

    scope = "caller"

    def get_cache_key(self, request: Request, view: APIView) -> str | None:
        token: object = request.auth
        if isinstance(token, ApiToken):
            return f"rate-token-{token.pk}"
        return f"rate-user-{request.user.pk}" if request.user.is_authenticated else None
