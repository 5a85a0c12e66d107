"""The API's addresses, below /api/v1/."""

from django.urls import URLPattern, URLResolver, path, re_path

from burnin.api.errors import no_such_address
from burnin.api.satellite import Bundle, Facts
from burnin.api.store import LocalObject

urlpatterns: list[URLPattern | URLResolver] = [
    path("satellite/facts", Facts.as_view(), name="satellite-facts"),
    re_path(
        r"^satellite/bundles/(?P<sha256>[0-9a-f]{64})$", Bundle.as_view(), name="satellite-bundle"
    ),
    path("store/<path:key>", LocalObject.as_view(), name="store-object"),
    re_path(r"^.*$", no_such_address),
]
