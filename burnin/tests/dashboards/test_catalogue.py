"""Every test has a page that says what it measures, what is acceptable and when it is stale."""

from __future__ import annotations

import csv
import html
import io

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from burnin.dashboards import run_words
from burnin.dashboards.param_rows import param_rows
from burnin.dashboards.templatetags.catalogue import good_is
from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.registry import list_all_tests
from burnin.hardware_tests.stale_operations import load_stale_operations, operations_that_stale
from burnin.models import StepTime
from burnin.models.limits import load_shipped
from burnin.tests.factories import a_class, a_job, a_preset, a_site, a_user, nodes_of
from fleet.access import Role
from runner.contract.slugs import Slugs

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.fixture
def viewer(client: Client) -> Client:
    load_shipped()
    client.force_login(a_user(Role.VIEWER, a_site()))
    return client


def _text(client: Client, address: str, status: int = 200) -> str:
    answer = client.get(address)
    assert answer.status_code == status, answer.content.decode()[:500]
    return html.unescape(answer.content.decode())


def test_the_list_holds_every_test_and_the_limits_in_force(viewer: Client) -> None:
    page = _text(viewer, "/tests/")

    for test in list_all_tests():
        assert test.display_name in page
        assert f"/tests/{test.slug}/limits/{test.resource_classes()[0]}/" in page
    assert f"{len(list_all_tests())} tests in" in page


def test_the_list_is_narrowed_by_words_and_by_shape(viewer: Client) -> None:
    assert "single-node.storage" not in _text(viewer, "/tests/?q=memory")
    assert "single-node.memory-stress" in _text(viewer, "/tests/?q=Memory")
    assert "single-node" not in _text(viewer, "/tests/?shape=pairwise").partition("<tbody>")[2]
    assert "No test like this" in _text(viewer, "/tests/?q=teapot")


def test_the_list_goes_out_as_it_is_filtered(viewer: Client) -> None:
    answer = viewer.get("/tests/?q=memory-stress&export=csv")

    body = b"".join(answer.streaming_content)  # type: ignore[attr-defined]
    [row] = csv.DictReader(io.StringIO(body.decode()))
    assert row["test"] == "single-node.memory-stress"
    assert '"cpu-generic": "shipped:' in row["limits"]


@pytest.mark.parametrize("test", list_all_tests(), ids=lambda test: test.slug)
def test_each_test_has_a_page(viewer: Client, test: type[BaseTest]) -> None:
    page = _text(viewer, f"/tests/{test.slug}/")

    for name, declared in test.metrics_class.declarations().items():
        row = _row(page, declared.label)
        assert f">{name}<" in row
        assert f"<td>{declared.unit or 'count'}</td>" in row
        assert f">{good_is(declared.better)}</td>" in row
    for name in test.params_class.model_fields:
        assert f">{name}<" in page
    for operation in operations_that_stale(test.slug, load_stale_operations()):
        assert f">{operation}<" in page
    _assert_bounds_with_their_sources(page, test)


def _assert_bounds_with_their_sources(page: str, test: type[BaseTest]) -> None:
    labels = {name: each.label for name, each in test.metrics_class.declarations().items()}
    for resource_class in test.resource_classes():
        table = page.partition(f'"Bounds on {resource_class}"')[2].partition("</table>")[0]
        for bound in test.load_thresholds(resource_class).bounds.values():
            row = _row(table, labels[bound.metric])
            for each in bound.by_fabric or (bound,):
                if each.value is None:
                    assert f">{each.why}\n" in row
                else:
                    assert f"<b>{run_words.limit(each.better, each.value, each.unit)}</b>" in row
                    assert f">{each.source}, <abbr" in row
                    assert f">confidence {each.confidence}</abbr>" in row


def _row(page: str, label: str) -> str:
    return page.partition(f'<th scope="row">{label}<')[2].partition("</tr>")[0]


def test_how_long_it_takes_is_what_runs_took(viewer: Client) -> None:
    untried = _text(viewer, f"/tests/{Slugs.MEMORY_STRESS}/")
    assert "about 2 min by its recipe with the defaults" in untried
    job, _ = a_job(nodes_of(a_site("west"), 1), Slugs.MEMORY_STRESS)
    StepTime.objects.create(
        job=job, stage=1, step=1, slug=Slugs.MEMORY_STRESS, runs=3, seconds=1080
    )

    assert "about 6 min, mean of 3 runs" in _text(viewer, f"/tests/{Slugs.MEMORY_STRESS}/")
    assert "6 min" in _text(viewer, "/tests/?q=memory-stress")


def test_it_says_which_presets_use_it(viewer: Client) -> None:
    a_preset("quick", Slugs.STORAGE)

    assert "quick, step 1, limit 5 min" in _text(viewer, f"/tests/{Slugs.STORAGE}/")


def test_a_class_without_limits_is_named(viewer: Client) -> None:
    a_class("h100")

    page = _text(viewer, f"/tests/{Slugs.STORAGE}/")

    assert "no limits: jobs with this test on this class are refused" in page


def test_an_unknown_test_is_not_found_and_near_ones_are_named(viewer: Client) -> None:
    assert viewer.get("/tests/single-node.storag/").status_code == 404


def test_whoever_has_no_role_sees_no_test(client: Client) -> None:
    client.force_login(a_user(None, a_site()))

    assert client.get("/tests/").status_code == 403
    assert client.get(f"/tests/{Slugs.STORAGE}/").status_code == 403


@pytest.mark.parametrize("address", ["/tests/", f"/tests/{Slugs.STORAGE}/"])
def test_more_jobs_and_classes_cost_no_more(viewer: Client, address: str) -> None:
    few = _queries(viewer, address)
    for number in range(5):
        a_class(f"class-{number}")
        job, _ = a_job(nodes_of(a_site(f"site-{number}"), 1), Slugs.STORAGE)
        StepTime.objects.create(job=job, stage=1, step=1, slug=Slugs.STORAGE, runs=3, seconds=1080)
        a_preset(f"preset-{number}", Slugs.STORAGE)

    assert _queries(viewer, address) == few


def _queries(client: Client, address: str) -> int:
    with CaptureQueriesContext(connection) as asked:
        _text(client, address)
    return len(asked)


def test_params_are_told_in_words() -> None:
    schema = {
        "$defs": {"Kind": {"enum": ["read", "write"], "type": "string"}},
        "properties": {
            "count": {"type": "integer", "minimum": 1, "maximum": 2000, "default": 5},
            "kind": {"$ref": "#/$defs/Kind", "description": "Which way."},
            "names": {"type": "array", "items": {"type": "string"}, "maxItems": 8},
            "size": {"anyOf": [{"type": "number"}, {"type": "null"}], "default": None},
        },
    }

    rows = {each.name: each for each in param_rows(schema)}

    assert (rows["count"].allowed, rows["count"].default) == ("1–2,000", "5")
    assert (rows["kind"].allowed, rows["kind"].default) == ("read, write", "required")
    assert (rows["names"].kind, rows["names"].allowed) == ("list of string", "at most 8 of them")
    assert (rows["size"].kind, rows["size"].default) == ("number or nothing", "null")
