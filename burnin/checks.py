"""Every piece of a test is there, or `manage.py check` says which one is not and where it goes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.registry import list_all_tests
from burnin.hardware_tests.stale_operations import (
    BadStaleOperations,
    StaleOperation,
    load_stale_operations,
    operations_that_stale,
)
from burnin.hardware_tests.thresholds.errors import BadThresholds, NoThresholds
from burnin.hardware_tests.thresholds.loader import THRESHOLDS_YAML, known_resource_classes
from runner.contract.slugs import all_slugs

CANNED_OUTCOMES = ("pass", "fault", "error")

Tests = Iterable[type[BaseTest]]


@register()
def every_test_is_whole(**_: Any) -> list[CheckMessage]:
    tests = list_all_tests()
    return [
        *slugs_and_classes(all_slugs(), tests),
        *thresholds(tests),
        *shipped_stale_operations(tests),
        *shipped_canned_artifacts(tests),
    ]


def slugs_and_classes(slugs: Sequence[str], tests: Tests) -> list[CheckMessage]:
    """E001: each slug of the contract has one registered class, and the other way round."""
    registered = [test.slug for test in tests]
    messages: list[CheckMessage] = [
        Error(
            f"slug {slug} has no test class",
            hint=f"create {_module(slug)} and add its class to _REGISTERED_TESTS in "
            "burnin/hardware_tests/registry.py",
            id="burnin.E001",
        )
        for slug in slugs
        if slug not in registered
    ]
    messages += [
        Error(
            f"test {slug} is not in the contract",
            hint="add a line to runner/contract/slugs.py",
            id="burnin.E001",
        )
        for slug in registered
        if slug not in slugs
    ]
    return messages


def thresholds(tests: Tests, path: Path = THRESHOLDS_YAML) -> list[CheckMessage]:
    """E002: each test has its limits on each resource class, and they pass its own schema."""
    messages: list[CheckMessage] = []
    try:
        known_resource_classes(path)
    except BadThresholds as error:
        return [Error(str(error), hint=f"correct {path.name}", id="burnin.E002")]
    for test in tests:
        for resource_class in test.resource_classes(path):
            messages += _threshold_messages(test, resource_class, path)
    return messages


def _threshold_messages(
    test: type[BaseTest], resource_class: str, path: Path
) -> list[CheckMessage]:
    try:
        test.load_thresholds(resource_class, path)
    except (NoThresholds, BadThresholds) as error:
        hint = (
            f"in {path.name} state tests: {test.slug}: {resource_class} (or defaults): for each of "
            f"{', '.join(test.thresholds_class.model_fields)}"
        )
        return [Error(f"{test.slug} on {resource_class}: {error}", hint=hint, id="burnin.E002")]
    return []


def shipped_stale_operations(tests: Tests) -> list[CheckMessage]:
    try:
        return stale_operations(tests, load_stale_operations())
    except BadStaleOperations as error:
        return [Error(str(error), hint="correct the file", id="burnin.E003")]


def stale_operations(tests: Tests, operations: Mapping[str, StaleOperation]) -> list[CheckMessage]:
    """E003: some operation makes each test's evidence stale."""
    return [
        Error(
            f"no hardware operation makes evidence of {test.slug} stale: it would count for ever",
            hint=f"add {test.slug} under an operation in burnin/stale_test_operations.yaml",
            id="burnin.E003",
        )
        for test in tests
        if not operations_that_stale(test.slug, operations)
    ]


def shipped_canned_artifacts(tests: Tests) -> list[CheckMessage]:
    fixtures = Path(settings.BASE_DIR) / "fixtures"
    # An installation without the development tree has none; there the test suite has vouched.
    return canned_artifacts(tests, fixtures / "artifacts") if fixtures.is_dir() else []


def canned_artifacts(tests: Tests, directory: Path) -> list[CheckMessage]:
    """E004: each test has recorded artifacts of a pass, a fault and an error."""
    return [
        Error(
            f"{test.slug} has no canned artifacts of {_indefinite(outcome)}",
            hint=f"record an attempt into fixtures/artifacts/{test.slug}/{outcome}/",
            id="burnin.E004",
        )
        for test in tests
        for outcome in CANNED_OUTCOMES
        if not (directory / test.slug / outcome / "metadata.json").is_file()
    ]


def _indefinite(outcome: str) -> str:
    return f"an {outcome}" if outcome == "error" else f"a {outcome}"


def _module(slug: str) -> str:
    stage, _, name = slug.partition(".")
    return f"burnin/hardware_tests/{stage.replace('-', '_')}/{name.replace('-', '_')}.py"
