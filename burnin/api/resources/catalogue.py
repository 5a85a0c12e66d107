"""The catalogue: every test, what it takes, what it shows, and the limits in force."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from django.http import HttpResponseBase
from drf_spectacular.utils import extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.exceptions import NotFound
from rest_framework.request import Request
from rest_framework.response import Response

from burnin.api import conditional
from burnin.api.examples import TEST, example
from burnin.api.resources.thresholds import ThresholdShown
from burnin.api.views import Bounded
from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.catalogue import data_sheet
from burnin.hardware_tests.registry import UnknownSlug, get_test_class, list_all_tests
from burnin.hardware_tests.stale_operations import load_stale_operations, operations_that_stale
from burnin.models import ThresholdVersion
from burnin.selectors.limits import LimitsKey, versions_in_force

Limits = Mapping[LimitsKey, ThresholdVersion]


@extend_schema_serializer(examples=[example("A test", TEST)])
class TestShown(serializers.Serializer[Any]):
    """A test's data sheet. `params` is a JSON schema; `metrics` are in the operator's order.

    `thresholds` holds by resource class the version in force. `stale_after` names the hardware
    operations after which its evidence no longer counts. `expected_duration_s` is of one iteration
    with the defaults of its params, by its recipe and not by what was measured.
    """

    __test__ = False

    slug = serializers.CharField()
    display_name = serializers.CharField()
    stage = serializers.CharField()
    measures = serializers.CharField()
    recipe_version = serializers.IntegerField()
    fixed_knobs = serializers.JSONField()
    fingerprint_tools = serializers.ListField(child=serializers.CharField())
    stale_after = serializers.ListField(child=serializers.CharField())
    expected_duration_s = serializers.IntegerField()
    params = serializers.JSONField()
    metrics = serializers.ListField(child=serializers.DictField())
    thresholds = serializers.DictField(child=ThresholdShown())


class Tests(Bounded):
    """The catalogue: every test there is, with the limits in force."""

    __test__ = False
    keeps_etag = True

    @extend_schema(responses=TestShown(many=True))
    def get(self, request: Request) -> HttpResponseBase:
        limits = versions_in_force()
        return conditional.answer(
            request,
            _state(limits),
            lambda: Response([_sheet(test, limits) for test in list_all_tests()]),
        )


class OneTest(Bounded):
    """One test, by its slug."""

    __test__ = False
    keeps_etag = True

    @extend_schema(responses=TestShown)
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        try:
            test = get_test_class(slug)
        except UnknownSlug as error:
            raise NotFound(f"{error}; see /api/v1/tests") from error
        limits = versions_in_force()
        return conditional.answer(
            request,
            _state(limits),
            lambda: Response(_sheet(test, limits)),
        )


def _state(limits: Limits) -> list[Any]:
    """Return what the answer is made of: the tests themselves come with the release."""
    return [release_mark(), *map(conditional.state_of, limits.values())]


@cache
def release_mark() -> str:
    """Return a hash of all that the tests of this release say of themselves."""
    sheets = json.dumps([_own_sheet(test) for test in list_all_tests()], default=str)
    return hashlib.sha256(sheets.encode()).hexdigest()


def _own_sheet(test: type[BaseTest]) -> dict[str, Any]:
    stale_after = list(operations_that_stale(test.slug, load_stale_operations()))
    return {**data_sheet(test), "stale_after": stale_after}


def _sheet(test: type[BaseTest], limits: Limits) -> dict[str, Any]:
    mine = {name: each for (slug, name), each in limits.items() if slug == test.slug}
    return {
        **_own_sheet(test),
        "thresholds": {name: ThresholdShown(each).data for name, each in mine.items()},
    }
