"""Limits: every version of them, and an admin's new one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from django.db.models import QuerySet
from django.utils import timezone
from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from burnin.api.callers import actor_of
from burnin.api.errors import Unprocessable
from burnin.api.examples import NEW_THRESHOLD, THRESHOLD, example, request_example
from burnin.api.fields import PlainObject, Stated, Words
from burnin.api.permissions import READS
from burnin.api.views import ListOf, OneOf, Rows
from burnin.hardware_tests.registry import UnknownSlug
from burnin.hardware_tests.thresholds.errors import BadThresholds, NoThresholds
from burnin.models import ThresholdVersion
from burnin.models.limits import add_operators_version
from burnin.selectors.thresholds_filters import ThresholdFilter
from fleet.models.api_token import Scope


@extend_schema_serializer(examples=[example("A version", THRESHOLD)])
class ThresholdShown(serializers.ModelSerializer[ThresholdVersion]):
    """One version of the limits of a test on a class. Versions are never changed.

    `bounds` says of each metric its value, source and confidence, or why it does not decide.
    The newest version of an operator is in force, else the newest shipped one.
    """

    resource_class = serializers.CharField(source="resource_class.name")
    created_by = serializers.CharField(
        source="created_by.username", default=None, allow_null=True, read_only=True
    )
    bounds = serializers.DictField()

    class Meta:
        model = ThresholdVersion
        fields = (
            "slug",
            "resource_class",
            "number",
            "label",
            "origin",
            "bounds",
            "created_at",
            "created_by",
            "reason",
        )


@extend_schema_serializer(examples=[request_example("A new bound", NEW_THRESHOLD)])
class NewThreshold(Stated):
    """What changes; metrics that it does not name stay as they are in force."""

    slug = Words(max_length=63)
    resource_class = Words(max_length=63)
    changes = PlainObject()
    reason = Words(max_length=1000)


class _Thresholds(Rows[ThresholdVersion]):
    """What list and single version share."""

    serializer_class = ThresholdShown

    def rows(self) -> QuerySet[ThresholdVersion]:
        return ThresholdVersion.objects.select_related("resource_class", "created_by")


class Thresholds(_Thresholds, ListOf[ThresholdVersion]):
    """Versions of limits, the newest first."""

    filterset_class = ThresholdFilter
    scopes: ClassVar[Mapping[str, Scope]] = {**READS, "POST": Scope.ADMIN}

    @extend_schema(request=NewThreshold, responses={201: ThresholdShown})
    def post(self, request: Request) -> Response:
        """Put changes over the limits in force, as the version that decides from now on."""
        asked = NewThreshold(data=request.data)
        asked.is_valid(raise_exception=True)
        stated = asked.validated_data
        try:
            version = add_operators_version(
                stated["slug"],
                stated["resource_class"],
                stated["changes"],
                by=actor_of(request),
                reason=stated["reason"],
                now=timezone.now(),
            )
        except (UnknownSlug, NoThresholds, BadThresholds) as error:
            raise Unprocessable(str(error)) from error
        return Response(ThresholdShown(version).data, status=201)


class OneThreshold(_Thresholds, OneOf[ThresholdVersion]):
    """One version, by test, class and number."""

    what, listed_at = "version of limits", "thresholds"
