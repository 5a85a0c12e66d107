"""The tests there are: what a list and a page show of them, in a fixed number of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.catalogue import data_sheet
from burnin.hardware_tests.registry import list_all_tests
from burnin.hardware_tests.stale_operations import (
    StaleOperation,
    load_stale_operations,
    operations_that_stale,
)
from burnin.models import PresetStep, ThresholdVersion
from burnin.selectors.bounds import StatedBound, bounds_of
from burnin.selectors.limits import versions_in_force
from burnin.selectors.test_times import mean_seconds, mean_seconds_of
from fleet.models import ResourceClass

Versions = Mapping[str, ThresholdVersion]  # by resource class


@dataclass(frozen=True)
class ListedTest:
    """One row of the catalogue. `takes_s` is the mean of late runs, else what the recipe says."""

    test: type[BaseTest]
    sheet: Mapping[str, Any]
    units: tuple[str, ...]
    takes_s: float
    versions: Versions


@dataclass(frozen=True)
class ClassBounds:
    """The limits in force on one class; none when nobody has stated any."""

    resource_class: str
    version: ThresholdVersion | None
    bounds: Sequence[StatedBound]


@dataclass(frozen=True)
class TestPage:
    """Everything that is known of one test. `takes` is a mean in seconds and of how many runs."""

    __test__ = False

    test: type[BaseTest]
    sheet: Mapping[str, Any]
    takes: tuple[float, int] | None
    steps: Sequence[PresetStep]
    stale_after: Sequence[StaleOperation]
    classes: Sequence[ClassBounds]


def listed_tests(*, words: str = "", shape: str = "") -> list[ListedTest]:
    """Return the tests of this shape with these words in slug, name or purpose."""
    limits, seconds = versions_in_force(), mean_seconds()
    found = []
    for test in list_all_tests():
        sheet = data_sheet(test)
        text = f"{test.slug} {test.display_name} {sheet['measures']}".lower()
        if words.lower() not in text or shape not in ("", test.stage):
            continue
        own = {name: version for (slug, name), version in limits.items() if slug == test.slug}
        takes_s = seconds.get(test.slug, sheet["expected_duration_s"])
        found.append(ListedTest(test, sheet, _units(sheet), takes_s, own))
    return found


def page_of(test: type[BaseTest]) -> TestPage:
    """Gather what the page of a test shows."""
    limits, operations = versions_in_force(), load_stale_operations()
    classes = ResourceClass.objects.order_by("name").values_list("name", flat=True)
    steps = PresetStep.objects.filter(slug=test.slug).select_related("preset")
    return TestPage(
        test=test,
        sheet=data_sheet(test),
        takes=mean_seconds_of(test.slug),
        steps=list(steps.order_by("preset__name", "position")),
        stale_after=[operations[name] for name in operations_that_stale(test.slug, operations)],
        classes=[_bounds_on(test, name, limits.get((test.slug, name))) for name in classes],
    )


def _bounds_on(
    test: type[BaseTest], resource_class: str, version: ThresholdVersion | None
) -> ClassBounds:
    return ClassBounds(resource_class, version, bounds_of(test, version) if version else ())


def _units(sheet: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the units of what decides, each once, in the operator's order."""
    deciding = [each for each in sheet["metrics"] if each["better"] and each["api_visible"]]
    return tuple(dict.fromkeys(str(each["unit"]) or "count" for each in deciding))
