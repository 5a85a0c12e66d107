"""What a browser may load and run on our pages: our own files, nothing inline."""

from collections.abc import Callable

from django.http import HttpRequest
from django.http.response import HttpResponseBase

HEADER = "Content-Security-Policy"
_CLOSED = "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
STRICT = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
    f"font-src 'self'; connect-src 'self'; {_CLOSED}"
)
# The admin's theme computes with Alpine, which evaluates text, and writes styles into its markup.
ADMIN = (
    "default-src 'self'; style-src 'self' 'unsafe-inline'; "
    f"script-src 'self' 'unsafe-inline' 'unsafe-eval'; img-src 'self' data:; {_CLOSED}"
)

Answer = Callable[[HttpRequest], HttpResponseBase]


def content_policy(answer: Answer) -> Answer:
    """Middleware. A view that needs another policy sets the header itself."""

    def with_policy(request: HttpRequest) -> HttpResponseBase:
        response = answer(request)
        policy = ADMIN if request.path.startswith("/admin/") else STRICT
        response.headers.setdefault(HEADER, policy)
        return response

    return with_policy
