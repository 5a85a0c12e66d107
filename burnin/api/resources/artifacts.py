"""Artifacts: the files of an attempt, and links to read them by."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from burnin.api.examples import ARTIFACT, LINK, example
from burnin.api.views import ListOf, OneOf, Rows
from burnin.models import Artifact
from burnin.selectors.artifacts_filters import ArtifactFilter
from burnin.workflow import wiring

LINK_LIVES_S = 300


@extend_schema_serializer(examples=[example("An artifact", ARTIFACT)])
class ArtifactShown(serializers.ModelSerializer[Artifact]):
    """A file from a node, verified and kept where no node can write."""

    run = serializers.UUIDField(source="attempt.run_id")
    attempt = serializers.IntegerField(source="attempt.number")

    class Meta:
        model = Artifact
        fields = ("id", "run", "attempt", "name", "size_bytes", "sha256", "stored_at")


@extend_schema_serializer(examples=[example("A link", LINK)])
class LinkShown(serializers.Serializer[Any]):
    """Where to GET the file, until `expires_at`. The link can read this file and nothing else."""

    url = serializers.CharField()
    expires_at = serializers.DateTimeField()


class _Artifacts(Rows[Artifact]):
    """What list, single artifact and link share."""

    serializer_class = ArtifactShown
    site_field = "attempt__run__site"

    def rows(self) -> QuerySet[Artifact]:
        rows = Artifact.objects.select_related("attempt")
        return rows.defer("attempt__script", "attempt__context", "attempt__log_asked_at")


class Artifacts(_Artifacts, ListOf[Artifact]):
    """Artifacts, the newest first."""

    filterset_class = ArtifactFilter


class OneArtifact(_Artifacts, OneOf[Artifact]):
    """One artifact."""

    what, listed_at = "artifact", "artifacts"


class ArtifactLink(OneArtifact):
    """A link to the file, for five minutes."""

    keeps_etag = False

    @extend_schema(responses=LinkShown)
    def get(self, request: Request, **_: Any) -> Response:
        artifact = self.find()
        url = wiring.store().download_url(
            artifact.key,
            expires_s=LINK_LIVES_S,
            filename=f"{str(artifact.attempt.run_id)[:8]}-{artifact.name}",
        )
        answer = Response(LinkShown({"url": url, "expires_at": _expires(timezone.now())}).data)
        answer["Cache-Control"] = "private, no-store"
        return answer


def _expires(now: datetime) -> datetime:
    return now + timedelta(seconds=LINK_LIVES_S)
