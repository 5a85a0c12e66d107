"""The catalogue by REST: of each test all that its page shows."""

from __future__ import annotations

import pytest
from django.test import Client

from burnin.api.resources import catalogue
from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.registry import list_all_tests
from burnin.hardware_tests.single_node.nvme import Nvme
from burnin.hardware_tests.stale_operations import load_stale_operations, operations_that_stale
from burnin.hardware_tests.thresholds.loader import stated_limits
from burnin.models.limits import load_shipped
from burnin.tests.api.callers import API, caller
from burnin.tests.factories import a_site, a_user
from fleet.access import Role
from runner.contract.slugs import Slugs

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.fixture
def viewer() -> Client:
    load_shipped()
    return caller(a_user(Role.VIEWER, a_site()))


def shown_metrics(test: type[BaseTest]) -> list[tuple[str, str, str, str | None]]:
    declared = test.metrics_class.declarations().values()
    return [(each.name, each.label, each.unit, each.better) for each in declared]


def test_it_tells_metrics_limits_with_sources_and_what_makes_evidence_stale(viewer: Client) -> None:
    listed = {each["slug"]: each for each in viewer.get(f"{API}tests").json()}

    assert set(listed) == {test.slug for test in list_all_tests()}
    for test in list_all_tests():
        told = listed[test.slug]
        metrics = [(m["name"], m["label"], m["unit"], m["better"]) for m in told["metrics"]]
        assert metrics == shown_metrics(test)
        assert set(told["thresholds"]) == set(test.resource_classes())
        for resource_class, version in told["thresholds"].items():
            assert version["bounds"] == stated_limits(test, resource_class)[1]
        assert told["stale_after"] == list(
            operations_that_stale(test.slug, load_stale_operations())
        )


def test_another_release_makes_another_etag(
    viewer: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    for url in (f"{API}tests", f"{API}tests/{Slugs.NVME}"):
        first = viewer.get(url)["ETag"]
        assert viewer.get(url, headers={"if-none-match": first}).status_code == 304
        with monkeypatch.context() as upgraded:
            upgraded.setattr(Nvme, "display_name", "Drives")
            catalogue.release_mark.cache_clear()
            assert viewer.get(url, headers={"if-none-match": first}).status_code == 200
        catalogue.release_mark.cache_clear()
