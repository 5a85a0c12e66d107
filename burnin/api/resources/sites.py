"""Sites: what they are, what their check found, and asking for another check."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from burnin.api.callers import actor_of
from burnin.api.errors import Conflict, Later
from burnin.api.examples import SITE, example
from burnin.api.permissions import require_operated
from burnin.api.views import ListOf, OneOf, Rows
from burnin.workflow import site_check, wiring
from burnin.workflow.site_check import CheckRefused
from burnin.workflow.site_queue import QueueUnreachable
from burnin.workflow.sites import why_closed, why_silent
from fleet.models import Site


@extend_schema_serializer(examples=[example("A site that takes jobs", SITE)])
class SiteShown(serializers.ModelSerializer[Site]):
    """A Slurm cluster. `closed_because` is empty while jobs can be sent to it."""

    is_checked = serializers.BooleanField(read_only=True)
    closed_because = serializers.SerializerMethodField()

    class Meta:
        model = Site
        fields = (
            "name",
            "description",
            "is_enabled",
            "partition",
            "work_dir",
            "shared_storage",
            "queue_ahead",
            "max_in_flight",
            "max_wait_minutes",
            "is_checked",
            "checked_at",
            "heartbeat_at",
            "closed_because",
            "capabilities",
            "reach",
        )

    @extend_schema_field(serializers.CharField())
    def get_closed_because(self, site: Site) -> str:
        return _closed(site, timezone.now())


class _Sites(Rows[Site]):
    """What list and single site share."""

    serializer_class = SiteShown
    site_field = "pk"

    def rows(self) -> QuerySet[Site]:
        return Site.objects.all()

    def more_state(self, rows: Sequence[Site]) -> list[Any]:
        return [_closed(each, timezone.now()) for each in rows]


class Sites(_Sites, ListOf[Site]):
    """The sites that you may see."""

    keys = ("name",)


class OneSite(_Sites, OneOf[Site]):
    """One site."""

    what, listed_at = "site", "sites"


class CheckAsked(serializers.Serializer[Any]):
    """The check is under way: its answer appears in the site's `capabilities`."""

    request_id = serializers.CharField()


class SiteCheck(OneSite):
    """Have a site prove what it can do. The answer comes within minutes, as its capabilities."""

    http_method_names = ("post", "options")
    serializer_class = CheckAsked  # type: ignore[assignment]  # what is answered, not a site

    @extend_schema(request=None, responses={202: CheckAsked})
    def post(self, request: Request, **_: Any) -> Response:
        site = self.find()
        require_operated(request, site)
        try:
            request_id = site_check.ask_by(
                actor_of(request),
                site,
                store=wiring.store(),
                queue=wiring.site_queue(),
                now=timezone.now(),
            )
        except CheckRefused as error:
            raise Conflict(f"the check was not sent: {error}") from error
        except QueueUnreachable as error:
            raise Later(f"the check was not sent: {error}; try again in a while") from error
        return Response({"request_id": request_id}, status=202)


def _closed(site: Site, now: datetime) -> str:
    """Say why nothing can be sent, in words that do not change with every second."""
    heard_of = site.heartbeat_at
    if heard_of is not None and not why_closed(site, heard_of) and why_silent(site, now):
        return f"no satellite of site {site.name} is alive: start it at the site"
    return why_closed(site, now)
