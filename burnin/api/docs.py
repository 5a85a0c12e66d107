"""Pages to read the OpenAPI document on, and to try it. Everything they load is ours."""

from typing import Any

from drf_spectacular.views import SpectacularSwaggerSplitView
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response

# Swagger UI writes styles into its markup and images into its styles; scripts stay ours alone.
POLICY = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; script-src 'self'; "
    "img-src 'self' data:; font-src 'self'; connect-src 'self'; "
    "form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)


class Docs(SpectacularSwaggerSplitView):
    """The browsable document, for anybody: it tells nothing about the fleet."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    throttle_classes = ()
    schema = None
    url_name = "schema"

    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        response: Response = super().get(request, *args, **kwargs)  # type: ignore[no-untyped-call]
        response["Content-Security-Policy"] = POLICY
        return response
