"""`hardware_tests list` and `schema`: what tests there are, what each takes and gives."""

import json
from typing import Any

from django.core.management.base import OutputWrapper

from burnin.hardware_tests import catalogue
from burnin.hardware_tests.registry import get_test_class, list_all_tests


def add_verbs(verbs: Any) -> None:
    listing = verbs.add_parser("list", help="every test, and about how long it takes")
    listing.set_defaults(act=list_tests)
    schema = verbs.add_parser("schema", help="a test's params, metrics and thresholds as JSON")
    schema.add_argument("slug")
    schema.set_defaults(act=show_schema)


def list_tests(stdout: OutputWrapper, _: dict[str, Any]) -> int:
    tests = list_all_tests()
    width = max(len(test.slug) for test in tests)
    for test in tests:
        takes = _about(catalogue.expected_duration_s(test))
        stdout.write(f"{test.slug:<{width}}  {takes:>6}  {test.display_name}")
    return 0


def _about(seconds: int) -> str:
    return f"{seconds} s" if seconds < 120 else f"{round(seconds / 60)} min"


def show_schema(stdout: OutputWrapper, options: dict[str, Any]) -> int:
    description = catalogue.describe(get_test_class(options["slug"]))
    stdout.write(json.dumps(description, indent=2))
    return 0
