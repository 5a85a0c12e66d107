"""A user's own tokens: seen, issued and revoked. The text of one is shown once."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, ClassVar

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.exceptions import PermissionDenied, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from burnin.api.callers import actor_of, user_of
from burnin.api.examples import NEW_TOKEN, REVOKE, TOKEN, example, request_example
from burnin.api.fields import Choice, Stated, Words
from burnin.api.permissions import READS
from burnin.api.views import ListOf, OneOf, Rows
from burnin.models.audit import LONGEST_REASON
from burnin.workflow.tokens import issue_token, revoke_token
from fleet.models import ApiToken
from fleet.models.api_token import LONGEST_LIFE, BadToken, Scope


@extend_schema_serializer(examples=[example("A token", TOKEN)])
class TokenShown(serializers.ModelSerializer[ApiToken]):
    """A token by its first characters. What it may do is bound by its user's role and sites."""

    scopes = serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices))

    class Meta:
        model = ApiToken
        fields: tuple[str, ...] = (
            "prefix",
            "name",
            "scopes",
            "created_at",
            "expires_at",
            "revoked_at",
            "used_at",
        )


@extend_schema_serializer(examples=[example("A new token", {**TOKEN, "token": "fm_A1b2C3d4E…"})])
class TokenIssued(TokenShown):
    """A new token with its text, which is kept nowhere and shown this once."""

    token = serializers.CharField()

    class Meta(TokenShown.Meta):
        fields = (*TokenShown.Meta.fields, "token")


@extend_schema_serializer(examples=[request_example("For a script", NEW_TOKEN)])
class NewToken(Stated):
    """What the token is for, what it may do at most, and for how long."""

    name = Words(max_length=100)
    scopes = serializers.ListField(
        child=Choice(Scope.choices),
        allow_empty=False,
        max_length=len(Scope),
    )
    days = serializers.IntegerField(min_value=1, max_value=LONGEST_LIFE.days, default=90)


@extend_schema_serializer(examples=[request_example("A lost laptop", REVOKE)])
class WhyRevoke(Stated):
    """The reason is kept in the audit."""

    reason = Words(max_length=LONGEST_REASON)


class Own(Rows[ApiToken]):
    """The caller's own tokens."""

    serializer_class = TokenShown

    def rows(self) -> QuerySet[ApiToken]:
        if getattr(self, "swagger_fake_view", False):
            return ApiToken.objects.none()
        return ApiToken.objects.filter(user=user_of(self.request)).defer("digest")


class Tokens(Own, ListOf[ApiToken]):
    """Your tokens, the newest first."""

    scopes: ClassVar[Mapping[str, Scope]] = {**READS, "POST": Scope.READ}

    @extend_schema(request=NewToken, responses={201: TokenIssued})
    def post(self, request: Request) -> Response:
        """Issue a token of yours. Only who has logged in can: a stolen token makes no other."""
        if isinstance(request.auth, ApiToken):
            raise PermissionDenied("a token cannot issue another one: log in at /account/tokens")
        asked = NewToken(data=request.data)
        asked.is_valid(raise_exception=True)
        stated, now = asked.validated_data, timezone.now()
        try:
            token, text = issue_token(
                user_of(request),
                name=stated["name"],
                scopes=stated["scopes"],
                expires_at=now + timedelta(days=stated["days"]),
                by=actor_of(request),
                now=now,
            )
        except BadToken as error:
            raise ValidationError(str(error)) from error
        answer = Response({**TokenShown(token).data, "token": text}, status=201)
        answer["Cache-Control"] = "no-store"
        return answer


class RevokeToken(Own, OneOf[ApiToken]):
    """Revoke a token of yours: nobody is let in by it from now on. A token can revoke itself."""

    http_method_names = ("post", "options")
    scopes: ClassVar[Mapping[str, Scope]] = {"POST": Scope.READ}
    what, listed_at = "token of yours", "tokens"

    @extend_schema(request=WhyRevoke, responses=TokenShown)
    def post(self, request: Request, **_: Any) -> Response:
        token = self.find()
        if isinstance(request.auth, ApiToken) and request.auth != token:
            raise PermissionDenied("a token can only revoke itself: log in at /account/tokens")
        asked = WhyRevoke(data=request.data)
        asked.is_valid(raise_exception=True)
        reason = asked.validated_data["reason"]
        revoke_token(token, by=actor_of(request), reason=reason, now=timezone.now())
        return Response(TokenShown(self.find()).data)
