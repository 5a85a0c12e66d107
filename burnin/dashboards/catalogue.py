"""The tests there are: what each measures, what may be turned, what is acceptable and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import render

from burnin.dashboards.exports import Columns, export
from burnin.dashboards.param_rows import param_rows
from burnin.dashboards.reach import require_role
from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.registry import UnknownSlug, get_test_class, list_all_tests
from burnin.selectors.bounds import StatedBound
from burnin.selectors.catalogue import ClassBounds, ListedTest, TestPage, listed_tests, page_of
from burnin.selectors.obstacles import outlooks

LONGEST_WORDS = 200


@login_required
def tests(request: HttpRequest) -> HttpResponseBase:
    require_role(request)
    words = request.GET.get("q", "").strip()[:LONGEST_WORDS]
    shapes = list(dict.fromkeys(test.stage for test in list_all_tests()))
    shape = request.GET.get("shape", "")
    rows = listed_tests(words=words, shape=shape)
    exported = export(request, "tests", TEST_COLUMNS, rows)
    if exported is not None:
        return exported
    context = {
        "tests": rows,
        "total": len(list_all_tests()),
        "shapes": shapes,
        "shape": shape,
        "words": words,
        "outlooks": outlooks(),
    }
    return render(request, "dashboards/tests.html", context)


@login_required
def test(request: HttpRequest, slug: str) -> HttpResponseBase:
    require_role(request)
    page = page_of(known_test(slug))
    exported = export(request, f"{slug}-limits", BOUND_COLUMNS, _bounds(page))
    if exported is not None:
        return exported
    context = {"page": page, "sheet": page.sheet, "params": param_rows(page.sheet["params"])}
    return render(request, "dashboards/test.html", context)


def known_test(slug: str) -> type[BaseTest]:
    try:
        return get_test_class(slug)
    except UnknownSlug as error:
        raise Http404(str(error)) from error


@dataclass(frozen=True)
class _BoundOfClass:
    on: ClassBounds
    bound: StatedBound


def _bounds(page: TestPage) -> Iterator[_BoundOfClass]:
    for each in page.classes:
        for bound in each.bounds:
            yield _BoundOfClass(each, bound)


TEST_COLUMNS: Columns[ListedTest] = {
    "test": lambda each: each.test.slug,
    "name": lambda each: each.test.display_name,
    "shape": lambda each: each.test.stage,
    "measures": lambda each: each.sheet["measures"],
    "units": lambda each: ", ".join(each.units),
    "takes_s": lambda each: each.takes_s,
    "limits": lambda each: {name: version.label for name, version in each.versions.items()},
}
BOUND_COLUMNS: Columns[_BoundOfClass] = {
    "class": lambda each: each.on.resource_class,
    "version": lambda each: each.on.version.label if each.on.version else "",
    "metric": lambda each: each.bound.metric,
    "label": lambda each: each.bound.label,
    "unit": lambda each: each.bound.unit,
    "better": lambda each: each.bound.better,
    "standing": lambda each: str(each.bound.standing),
    "value": lambda each: each.bound.value,
    "source": lambda each: each.bound.source,
    "confidence": lambda each: each.bound.confidence,
    "why": lambda each: each.bound.why,
}
