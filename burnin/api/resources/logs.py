"""What a run has written, by byte offset: while it runs as it comes, then as it was collected."""

from __future__ import annotations

import codecs
from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from burnin.api.examples import example
from burnin.api.resources.runs import OneRun
from burnin.models import TestRun
from burnin.storage.store import ObjectMissing
from burnin.workflow import wiring
from burnin.workflow.follow_log import follow_log
from burnin.workflow.logs import NAMES, LogPiece, read_log

MOST_BYTES = 1 << 20
LEAST_BYTES = 4  # one character of any kind
FARTHEST = 1 << 40
LOG = {
    "content": "hello from n001\n",
    "next_offset": 16,
    "total": 16,
    "is_final": True,
    "waits_because": "",
}


class LogAsked(serializers.Serializer[Any]):
    """Which piece of which log."""

    name = serializers.ChoiceField(choices=NAMES, default="stdout.txt")
    attempt = serializers.IntegerField(
        min_value=1, max_value=10_000, required=False, help_text="The newest, if it is left out."
    )
    offset = serializers.IntegerField(min_value=0, max_value=FARTHEST, default=0)
    limit = serializers.IntegerField(
        min_value=LEAST_BYTES, max_value=MOST_BYTES, default=1 << 16, help_text="Bytes at most."
    )


@extend_schema_serializer(examples=[example("The beginning", LOG)])
class LogShown(serializers.Serializer[Any]):
    """A piece of a log as text. Ask for the rest with `offset` = `next_offset`.

    It is whole when `is_final` and `next_offset` is `total`. `waits_because` says why nothing new
    comes just now.
    """

    content = serializers.CharField()
    next_offset = serializers.IntegerField()
    total = serializers.IntegerField()
    is_final = serializers.BooleanField()
    waits_because = serializers.CharField()


class RunLog(OneRun):
    """A log of a run. While it grows, asking has its site send what is new."""

    keeps_etag = False

    @extend_schema(parameters=[LogAsked], responses=LogShown)
    def get(self, request: Request, **_: Any) -> Response:
        run, asked = self.find(), LogAsked(data=request.query_params)
        asked.is_valid(raise_exception=True)
        piece = _piece(run, **asked.validated_data)
        queue, name = wiring.site_queue(), asked.validated_data["name"]
        waits = "" if piece.is_final else follow_log(run, name, queue=queue, now=timezone.now())
        answer = Response(LogShown({**_as_text(piece), "waits_because": waits}).data)
        answer["Cache-Control"] = "private, no-store"
        return answer


def _piece(
    run: TestRun, name: str, offset: int, limit: int, attempt: int | None = None
) -> LogPiece:
    if attempt is not None and attempt > run.attempt_number:
        raise NotFound(f"run {run.pk} has no attempt {attempt}; see /api/v1/attempts")
    store = wiring.store()
    try:
        return read_log(run, name, offset=offset, limit=limit, store=store, attempt=attempt)
    except ObjectMissing as error:
        raise NotFound("the log is not in the store any more") from error


def _as_text(piece: LogPiece) -> dict[str, Any]:
    """Return whole characters: one that the end has cut is left for the next piece."""
    is_end = piece.is_final and piece.next_offset == piece.total
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    text = decoder.decode(piece.content, final=is_end)
    return {
        "content": text,
        "next_offset": piece.next_offset - len(decoder.getstate()[0]),
        "total": piece.total,
        "is_final": piece.is_final,
    }
