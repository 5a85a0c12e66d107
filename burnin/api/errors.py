"""Every error of the API is `{"error": "<one sentence>"}`, and none shows our insides."""

from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from rest_framework import status
from rest_framework.exceptions import (
    APIException,
    MethodNotAllowed,
    NotAcceptable,
    NotAuthenticated,
    Throttled,
    UnsupportedMediaType,
    ValidationError,
)
from rest_framework.response import Response
from rest_framework.views import exception_handler

from burnin import stock_words
from burnin.runner_bundle import BrokenBundle, UnprovenBundle
from burnin.storage.store import StoreRefused, StoreUnreachable

RETRY_AFTER_S = 5
RETRY = {"Retry-After": str(RETRY_AFTER_S)}


class TooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE


class LengthRequired(APIException):
    status_code = status.HTTP_411_LENGTH_REQUIRED
    default_detail = "send the body with a Content-Length, not in chunks"


class Unprocessable(APIException):
    """It was understood, and cannot be done as it was asked for."""

    status_code = status.HTTP_422_UNPROCESSABLE_ENTITY


class Conflict(APIException):
    """It is too late or too early for what was asked."""

    status_code = status.HTTP_409_CONFLICT


class Later(APIException):
    """Something that is needed is away; the same request may do later."""

    status_code = status.HTTP_503_SERVICE_UNAVAILABLE


def as_one_sentence(error: Exception, context: dict[str, Any]) -> Response | None:
    """Django REST framework's EXCEPTION_HANDLER. None lets Django answer a bare 500, and log."""
    if isinstance(error, (OperationalError, InterfaceError)):
        return _later("the hub's database does not answer")
    if isinstance(error, (StoreUnreachable, StoreRefused)):
        return _later("the hub's artifact store does not answer")
    if isinstance(error, (BrokenBundle, UnprovenBundle)):
        return Response({"error": str(error)}, status=503, headers=RETRY)
    response = exception_handler(error, context)
    if response is not None:
        response.data = {"error": _sentence(error, response.data, context)}
    return response


def _later(words: str) -> Response:
    # The exception's own words go to the log of Django's request handling, never to a client.
    return Response({"error": f"{words}; try again in a while"}, status=503, headers=RETRY)


def _sentence(error: Exception, data: Any, context: dict[str, Any]) -> str:
    match error:
        case UnsupportedMediaType():
            return "send the body as Content-Type: application/json"
        case ValidationError():
            return "; ".join(_leaves(data))
        case MethodNotAllowed():
            allowed = ", ".join(context["view"].allowed_methods)
            return f"this address takes {allowed}, not {context['request'].method}"
        case NotAcceptable():
            return "this API answers application/json: accept that"
        case Throttled():
            return f"too many requests: wait {getattr(error, 'wait', None) or 60:.0f} s, then go on"
        case NotAuthenticated() if _is_stock(error):
            return "nobody is logged in: send a token (Authorization: Bearer <token>), or log in"
        case APIException():
            return stock_words.said(str(error.detail))
        case _:
            return str(data.get("detail", data)) if isinstance(data, dict) else str(data)


def _is_stock(error: APIException) -> bool:
    return str(error.detail) == str(type(error).default_detail)


def _leaves(data: Any) -> list[str]:
    if isinstance(data, dict):
        return [
            leaf if field == "non_field_errors" else f"{field}: {leaf}"
            for field, value in data.items()
            for leaf in _leaves(value)
        ]
    if isinstance(data, list):
        return [leaf for value in data for leaf in _leaves(value)]
    return [stock_words.said(str(data))]


def refuse(status_code: int, words: str) -> JsonResponse:
    """Answer one sentence, from a view that is not REST framework's."""
    return JsonResponse({"error": words}, status=status_code)


@csrf_exempt  # whoever writes to a wrong address is told so in our one shape too
def no_such_address(request: HttpRequest, **_: object) -> JsonResponse:
    return refuse(404, f"there is nothing at {request.path[:200]}; see /api/v1/")
