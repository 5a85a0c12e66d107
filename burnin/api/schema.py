"""The OpenAPI document: what every operation can answer besides what it is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.openapi import AutoSchema
from drf_spectacular.utils import OpenApiExample, OpenApiResponse
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from burnin.api import conditional
from burnin.api.permissions import LEAST_ROLE, READS
from fleet.models.api_token import Scope

ALWAYS = {
    401: ("Nobody was recognised.", "this token was revoked: issue another at /account/tokens …"),
    403: ("Recognised, and not allowed.", "this token has not the scope operate: issue one …"),
    406: ("Only JSON is spoken here.", "this API answers application/json: accept that"),
    429: ("Too many requests.", "too many requests: wait 12 s, then go on"),
    503: ("A part of the hub is away.", "the hub's database does not answer; try again in a while"),
}
READING = {400: ("A parameter is wrong.", "stat: there is no such filter; there are site, state …")}
NAMING = {404: ("There is none, or none that you may see.", "there is no such job: see /api/v1/…")}
WRITING = {
    400: ("The body is wrong.", "reason: send it, it is missing"),
    409: ("It is too late or too early for that.", "job 7f… is done already (passed): …"),
    411: ("The body's length is missing.", "send the body with a Content-Length, not in chunks"),
    413: ("The body is too long.", "the body has 9000000 bytes, more than 4194304: send less"),
    415: ("The body is no JSON.", "send the body as Content-Type: application/json"),
    422: ("It was understood, and cannot be done.", "site east has no node n9: correct the name …"),
}


class Refusal(serializers.Serializer[Any]):
    """Every error: one sentence that says what is wrong, where, and what to do."""

    error = serializers.CharField()


class FleetSchema(AutoSchema):
    """Declares the errors that every view can answer, and 304 where an ETag is kept."""

    def get_description(self) -> str:  # type: ignore[override]  # spectacular's own
        said = super().get_description()
        stated: Mapping[str, Scope] = getattr(self.view, "scopes", {})
        scope = stated.get(self.method, READS.get(self.method, Scope.OPERATE))
        return f"{said}\n\nNeeds the scope `{scope}` and the role {LEAST_ROLE[scope]}.".strip()

    def _get_response_bodies(self, direction: Any = "response") -> dict[str, Any]:
        bodies: dict[str, Any] = super()._get_response_bodies(direction)
        if self.method == "GET" and getattr(self.view, "keeps_etag", False):
            bodies["304"] = {"description": "You hold what is there: it has this ETag."}
        for code, (description, example) in self._refusals().items():
            if str(code) not in bodies:
                refusal = OpenApiResponse(
                    Refusal,
                    description=description,
                    examples=[OpenApiExample("refused", value={"error": example})],
                )
                bodies[str(code)] = self._get_response_for_code(  # type: ignore[no-untyped-call]
                    refusal, str(code)
                )
        return dict(sorted(bodies.items()))

    def _refusals(self) -> Mapping[int, tuple[str, str]]:
        named = NAMING if "{" in self.path else {}
        return {**ALWAYS, **named, **(READING if self.method == "GET" else WRITING)}


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "burnin.api.callers.ApiTokenAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A token of /account/tokens or `manage.py issue_api_token`.",
        }


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    target_class = "burnin.api.callers.BrowserSession"
    name = "session"

    def get_security_definition(self, auto_schema: AutoSchema) -> dict[str, Any]:
        return {
            "type": "apiKey",
            "in": "cookie",
            "name": "sessionid",
            "description": "Who has logged in. A write needs the header X-CSRFToken as well.",
        }


@cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document, made once a process."""
    generator = SchemaGenerator()  # type: ignore[no-untyped-call]
    made: dict[str, Any] = generator.get_schema(  # type: ignore[no-untyped-call]
        request=None, public=True
    )
    return made


class Document(APIView):
    """The OpenAPI document of this hub, for anybody: it tells nothing about the fleet."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    throttle_classes = ()
    schema = None

    def get(self, request: Request) -> Any:
        return conditional.answer(request, [document()], lambda: Response(document()))
