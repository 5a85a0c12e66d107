"""The odd one out of a site's nodes of one class is named, whoever was judged first."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from burnin.models import MetricRow, TestResult
from burnin.selectors import cohort as cohort_selector
from burnin.selectors.cohort import Cohort, Words, cohort_of
from burnin.states import Verdict
from burnin.tests.dashboards.world import a_result
from burnin.tests.factories import (
    a_class,
    a_job,
    a_site,
    a_user,
    frozen_steps,
    judge,
    nodes_of,
)
from fleet.access import Role
from fleet.models import Node
from runner.contract.slugs import Slugs

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
NOW = timezone.now()


def told(node: Node, detail: str, *, name: str = "bios_versions", value: float = 1) -> None:
    run = a_result(node, Verdict.PASSED, Slugs.NODE_HEALTH, at=NOW)
    MetricRow.objects.create(
        result=run.result,
        node=node,
        position=1,
        name=name,
        label="BIOS versions",
        value=value,
        detail=detail,
    )


def a_cohort(*details: str) -> tuple[list[Node], Cohort]:
    """Give each node the BIOS of its place, and none to the last."""
    site = a_site()
    nodes = nodes_of(site, len(details) + 1, seen_at=NOW)
    for node, detail in zip(nodes, details, strict=False):
        told(node, detail)
    return nodes, cohort_of(site, a_class())


def test_the_outlier_is_named_and_who_does_not_tell_is_not_equal() -> None:
    nodes, cohort = a_cohort("2.5", "2.4", "2.5")

    (bios,) = cohort.components
    assert (cohort.total, bios.told) == (4, 3)
    assert bios.most == Words("2.5", 2, ())
    assert bios.others == (Words("2.4", 1, (nodes[1].name,)),)


def test_half_of_the_nodes_are_not_most_of_them() -> None:
    nodes, cohort = a_cohort("2.5", "2.4")

    assert cohort.components[0].most is None
    assert {each.names for each in cohort.components[0].others} == {
        (nodes[0].name,),
        (nodes[1].name,),
    }


def test_the_newest_words_of_a_node_count_and_another_class_does_not() -> None:
    nodes, _ = a_cohort("2.4", "2.5", "2.5")
    run = a_result(nodes[0], Verdict.PASSED, Slugs.NODE_HEALTH, at=NOW + timedelta(hours=1))
    MetricRow.objects.create(
        result=run.result, node=nodes[0], position=1, name="bios_versions", value=1, detail="2.5"
    )

    cohort = cohort_of(nodes[0].site, a_class())

    assert sum(each.told for each in cohort.components) == 3
    assert cohort_of(nodes[0].site, a_class("another")).total == 0


def test_a_node_that_was_asked_for_less_since_is_counted_once_by_its_newest_words() -> None:
    nodes, before = a_cohort("2.4", "2.5", "2.5")
    later = NOW + timedelta(hours=1)
    steps = frozen_steps([Slugs.NODE_HEALTH], params={"checks": ["bios_versions"]})
    _, runs = a_job([nodes[0]], Slugs.NODE_HEALTH, now=later, steps=steps)
    judge(runs, now=later)
    result = TestResult.objects.get(run=runs[0])
    MetricRow.objects.create(
        result=result, node=nodes[0], position=1, name="bios_versions", value=1, detail="2.5"
    )

    (bios,) = cohort_of(nodes[0].site, a_class()).components

    assert before.components[0].others
    assert (bios.told, bios.most, bios.others) == (3, Words("2.5", 3, ()), ())


def test_a_cohort_costs_the_same_whatever_its_size() -> None:
    nodes, _ = a_cohort("2.5", "2.4", "2.5", "2.5", "2.3")
    kind = a_class()

    with CaptureQueriesContext(connection) as caught:
        cohort_of(nodes[0].site, kind)

    assert len(caught) == 3


def test_the_page_names_the_outlier_and_exports_it(client: Client) -> None:
    nodes, _ = a_cohort("2.5", "2.4 <b>", "2.5")
    client.force_login(a_user(Role.VIEWER, None, name="vera"))
    url = f"/sites/{nodes[0].site.name}/cohorts/{a_class().name}/"

    page = client.get(url).content.decode()
    exported = json.loads(b"".join(client.get(f"{url}?export=json")))

    assert "2.4 &lt;b&gt;: " in page and f">{nodes[1].name}</a>" in page
    assert "3 of 4" in page
    assert [row["names"] for row in exported if not row["most"]] == [nodes[1].name]


def test_a_page_says_how_many_it_does_not_name(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cohort_selector, "NAMES_SHOWN", 1)
    nodes, _ = a_cohort("2.5", "2.4", "2.4", "2.5", "2.5")
    client.force_login(a_user(Role.VIEWER, None, name="vera"))

    page = client.get(f"/sites/{nodes[0].site.name}/cohorts/{a_class().name}/").content.decode()

    assert f">{nodes[1].name}</a> and 1 more" in page
    assert f">{nodes[2].name}</a>" not in page


def test_the_page_says_what_a_node_is_made_of_or_that_nobody_stated_it(client: Client) -> None:
    nodes, _ = a_cohort("2.5")
    kind = a_class()
    client.force_login(a_user(Role.VIEWER, None, name="vera"))
    url = f"/sites/{nodes[0].site.name}/cohorts/{kind.name}/"
    kind.gpus_per_node, kind.gpu_maker, kind.parts = 8, "NVIDIA", ["rdma", "nvlink"]
    kind.save()

    assert "Each node has 8 GPUs of NVIDIA, NVLink, RDMA." in client.get(url).content.decode()
    kind.gpus_per_node, kind.gpu_maker, kind.parts = None, "", []
    kind.save()
    assert f"Resource class {kind.name} does not state its hardware" in (
        client.get(url).content.decode()
    )


def test_a_site_that_one_may_not_see_has_no_cohort(client: Client) -> None:
    nodes, _ = a_cohort("2.5")
    client.force_login(a_user(None, None, name="nobody"))

    assert client.get(f"/sites/{nodes[0].site.name}/cohorts/{a_class().name}/").status_code == 404
