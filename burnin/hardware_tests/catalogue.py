"""Every test as plain data: what may be turned, what is shown, what is acceptable."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Any

from burnin.hardware_tests.base import BaseTest


def describe(test: type[BaseTest]) -> dict[str, Any]:
    """Return a test's data sheet with the limits that this release ships.

    Raises NoThresholds or BadThresholds.
    """
    return {
        **data_sheet(test),
        "thresholds": {
            resource_class: _thresholds(test, resource_class)
            for resource_class in test.resource_classes()
        },
    }


def data_sheet(test: type[BaseTest]) -> dict[str, Any]:
    """Return what a test is, whatever its limits, ready for JSON."""
    return {
        "slug": test.slug,
        "display_name": test.display_name,
        "stage": test.stage,
        "measures": _first_paragraph(sys.modules[test.__module__].__doc__),
        "recipe_version": test.recipe_version,
        "fixed_knobs": dict(test.fixed_knobs),
        "fingerprint_tools": list(test.fingerprint_tools),
        "expected_duration_s": expected_duration_s(test),
        "params": test.params_class.model_json_schema(),
        "metrics": _metrics(test),
    }


def expected_duration_s(test: type[BaseTest]) -> int:
    """Return about how many seconds the test takes with the defaults of its params."""
    return test.expected_duration_s(vars(test.params_class.model_construct()))


def _first_paragraph(docstring: str | None) -> str:
    # A definition's module is its data sheet, and its first paragraph says what is measured.
    return " ".join((docstring or "").strip().partition("\n\n")[0].split())


def _metrics(test: type[BaseTest]) -> list[dict[str, Any]]:
    opt_in = test.metrics_class.is_opt_in
    return [
        {**asdict(declared), "opt_in": opt_in(name)}
        for name, declared in test.metrics_class.declarations().items()
    ]


def _thresholds(test: type[BaseTest], resource_class: str) -> dict[str, Any]:
    limits = test.load_thresholds(resource_class)
    return {
        "version": limits.version,
        "bounds": {name: bound.as_json() for name, bound in limits.bounds.items()},
    }
