"""What there is below /api/v1/."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse
from rest_framework.views import APIView

LISTS = (
    "fleet",
    "sites",
    "resource-classes",
    "nodes",
    "hardware-operations",
    "presets",
    "thresholds",
    "tests",
    "jobs",
    "runs",
    "attempts",
    "results",
    "metrics",
    "artifacts",
    "audit",
    "tokens",
    "docs",
    "schema",
)


class Root(APIView):
    """The addresses of every list, and of the documents, for anybody."""

    authentication_classes = ()
    permission_classes = (AllowAny,)
    throttle_classes = ()

    @extend_schema(responses=dict[str, str], auth=[])
    def get(self, request: Request) -> Response:
        found: dict[str, Any] = {name: reverse(name, request=request) for name in LISTS}
        return Response(found)
