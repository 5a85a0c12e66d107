"""An address with a NUL names nothing. PostgreSQL would raise on it, where SQLite finds nothing."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBadRequest, JsonResponse
from django.http.response import HttpResponseBase

SENTENCE = "the address holds a NUL (%00), which no name has: leave it out"
API = "/api/"


def plain_addresses(
    answer: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Refuse what no address of ours can mean, before anything looks it up."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if "\0" not in request.path_info and "%00" not in request.META.get("QUERY_STRING", ""):
            return answer(request)
        if request.path_info.startswith(API):
            return JsonResponse({"error": SENTENCE}, status=400)
        return HttpResponseBadRequest(SENTENCE, content_type="text/plain; charset=utf-8")

    return middleware
