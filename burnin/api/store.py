"""The local store's signed URLs: a PUT writes one object, a GET reads one."""

from typing import Any

from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.decorators import method_decorator
from django.views import View
from django.views.decorators.csrf import csrf_exempt

from burnin.api.errors import refuse
from burnin.storage.grants import GrantRefused
from burnin.storage.local import LocalStore, TornUpload
from burnin.storage.store import ObjectMissing, StoreRefused, StoreUnreachable
from burnin.workflow import wiring


@method_decorator(csrf_exempt, name="dispatch")  # the signature in the URL is the only credential
class LocalObject(View):
    http_method_names = ("get", "put")

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        try:
            return super().dispatch(request, *args, **kwargs)
        except GrantRefused as error:
            return refuse(403, str(error))
        except ObjectMissing:
            return refuse(404, "nothing was uploaded here yet")
        except (StoreUnreachable, StoreRefused):
            return refuse(503, "the hub's store does not work just now; try again in a while")

    def put(self, request: HttpRequest, key: str) -> HttpResponse:
        store = _local_store()
        grant = store.granted("PUT", key, request.META.get("QUERY_STRING", ""))
        length = request.META.get("CONTENT_LENGTH") or ""
        if not (length.isascii() and length.isdecimal()):
            return refuse(411, "send the content with a Content-Length, not in chunks")
        if int(length) > grant.max_bytes:
            return refuse(413, f"this URL takes at most {grant.max_bytes} bytes, not {length}")
        try:
            store.receive(grant.key, request, size_bytes=int(length))
        except TornUpload as error:
            return refuse(400, str(error))
        return HttpResponse(status=201)

    def get(self, request: HttpRequest, key: str) -> HttpResponseBase:
        store = _local_store()
        grant = store.granted("GET", key, request.META.get("QUERY_STRING", ""))
        # Whatever a node wrote is a download: no browser may show it as a page of ours.
        response = FileResponse(
            store.open(grant.key),
            as_attachment=True,
            filename=grant.filename or key.rpartition("/")[2],
            content_type="application/octet-stream",
        )
        response["X-Content-Type-Options"] = "nosniff"
        response["Cache-Control"] = "private, no-store"
        return response


def _local_store() -> LocalStore:
    """Return the store if it is a local one; otherwise no URL of this kind was ever made."""
    store = wiring.store()
    if not isinstance(store, LocalStore):
        raise GrantRefused("this hub keeps its artifacts elsewhere: ask it for a fresh URL")
    return store
