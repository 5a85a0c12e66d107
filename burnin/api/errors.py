"""Every error of the API is `{"error": "<one sentence>"}`, and none shows our insides."""

from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, JsonResponse
from rest_framework import status
from rest_framework.exceptions import APIException, UnsupportedMediaType, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler

from burnin.storage.store import StoreRefused, StoreUnreachable

RETRY_AFTER_S = 5


class TooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE


class LengthRequired(APIException):
    status_code = status.HTTP_411_LENGTH_REQUIRED
    default_detail = "send the body with a Content-Length, not in chunks"


def as_one_sentence(error: Exception, context: dict[str, Any]) -> Response | None:
    """Django REST framework's EXCEPTION_HANDLER. None lets Django answer a bare 500, and log."""
    if isinstance(error, (OperationalError, InterfaceError)):
        return _later("the hub's database does not answer")
    if isinstance(error, (StoreUnreachable, StoreRefused)):
        return _later("the hub's artifact store does not answer")
    response = exception_handler(error, context)
    if response is not None:
        response.data = {"error": _sentence(error, response.data)}
    return response


def _later(words: str) -> Response:
    # The exception's own words go to the log of Django's request handling, never to a client.
    headers = {"Retry-After": str(RETRY_AFTER_S)}
    return Response({"error": f"{words}; try again in a while"}, status=503, headers=headers)


def _sentence(error: Exception, data: Any) -> str:
    match error:
        case UnsupportedMediaType():
            return "send the body as Content-Type: application/json"
        case ValidationError():
            return "; ".join(_leaves(data))
        case APIException():
            return str(error.detail)
        case _:
            return str(data.get("detail", data)) if isinstance(data, dict) else str(data)


def _leaves(data: Any) -> list[str]:
    if isinstance(data, dict):
        return [f"{field}: {leaf}" for field, value in data.items() for leaf in _leaves(value)]
    if isinstance(data, list):
        return [leaf for value in data for leaf in _leaves(value)]
    return [str(data)]


def refuse(status_code: int, words: str) -> JsonResponse:
    """Answer one sentence, from a view that is not REST framework's."""
    return JsonResponse({"error": words}, status=status_code)


def no_such_address(request: HttpRequest, **_: object) -> JsonResponse:
    return refuse(404, f"there is nothing at {request.path[:200]}; see /api/v1/")
