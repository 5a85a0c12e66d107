"""What satellites call: facts come in, the runner's bundles go out."""

from pathlib import Path

from django.http import FileResponse, UnreadablePostError
from django.utils import timezone
from rest_framework.exceptions import NotFound, ParseError, UnsupportedMediaType
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from burnin.api.authentication import IsSite, SiteTokenAuthentication, site_of
from burnin.api.errors import LengthRequired, TooLarge, Unprocessable
from burnin.api.facts import BadBatch, read_batch
from burnin.satellite.messages import FactAnswer
from burnin.workflow import wiring
from burnin.workflow.record import record_facts

JSON = "application/json"
LARGEST_BODY_BYTES = 16 << 20  # satellites send about 2 MiB at a time


def _body(request: Request) -> bytes:
    """Return the body, read once its kind and length are known to be bearable."""
    if request.content_type.partition(";")[0].strip().lower() != JSON:
        raise UnsupportedMediaType(request.content_type)
    length = _content_length(request)
    try:
        body = bytes(request.stream.read(length)) if request.stream else b""
    except UnreadablePostError:  # the satellite has hung up
        body = b""
    if len(body) < length:
        raise ParseError("the body ended early: send it again")
    return body


def _content_length(request: Request) -> int:
    text = request.META.get("CONTENT_LENGTH") or ""
    if not (text.isascii() and text.isdecimal()):
        raise LengthRequired
    if int(text) > LARGEST_BODY_BYTES:
        raise TooLarge(
            f"the body has {text} bytes, more than {LARGEST_BODY_BYTES}: send fewer facts at a time"
        )
    return int(text)


class SatelliteView(APIView):
    schema = None  # what satellites say is no business of other programs
    authentication_classes = (SiteTokenAuthentication,)
    permission_classes = (IsSite,)


class Facts(SatelliteView):
    """POST a batch of facts; the answer names those taken and those refused for good."""

    record = staticmethod(record_facts)

    def post(self, request: Request) -> Response:
        body = _body(request)
        try:
            read = read_batch(body)
        except BadBatch as error:
            raise Unprocessable(str(error)) from error
        answer = self.record(site_of(request), read.batch, now=timezone.now())
        whole = FactAnswer(
            acknowledged=answer.acknowledged, refused=(*read.refused, *answer.refused)
        )
        return Response(whole.model_dump(mode="json"))


class Bundle(SatelliteView):
    """GET the runner whose sha256 an order names."""

    def get(self, request: Request, sha256: str) -> FileResponse:
        path: Path | None = wiring.bundle_file(sha256)
        if path is None:
            raise NotFound(
                f"this hub has no runner {sha256}: web and worker must be of one version"
            )
        return FileResponse(path.open("rb"), content_type="application/zip")
