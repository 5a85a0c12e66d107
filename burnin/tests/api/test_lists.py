"""Every list of the API: paged without counting, narrowed strictly, and not sent twice."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from burnin.models import JobCount, TestRun
from burnin.models.limits import load_shipped
from burnin.tests.api.callers import API, caller, fill, text_of_token
from burnin.tests.factories import a_class, a_site, a_user, nodes_of
from burnin.tests.pair_rows import run_between
from fleet.access import Role
from fleet.models import Node, Site

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]

LISTS = (
    "sites",
    "resource-classes",
    "nodes",
    "hardware-operations",
    "presets",
    "thresholds",
    "jobs",
    "runs",
    "attempts",
    "results",
    "metrics",
    "artifacts",
    "audit",
    "tokens",
)
OF_NOBODY = ("resource-classes", "presets", "thresholds", "tokens")
OF_SITES = tuple(each for each in LISTS if each not in OF_NOBODY)


@pytest.fixture
def site() -> Site:
    return a_site("east")


@pytest.fixture
def reader(site: Site) -> Client:
    return caller(a_user(Role.ADMIN, None))


def everything(client: Client, path: str) -> list[Any]:
    """Follow `next` to the end."""
    rows: list[Any] = []
    url: str | None = path
    while url:
        answer = client.get(url)
        assert answer.status_code == 200, answer.content
        rows += answer.json()["results"]
        url = answer.json()["next"]
    return rows


@pytest.mark.parametrize("name", [*LISTS, "tests"])
def test_a_list_costs_the_same_for_few_rows_and_for_many(
    reader: Client, site: Site, name: str
) -> None:
    load_shipped()
    fill(site, 2)
    assert reader.get(f"{API}{name}").status_code == 200  # the use of the token is noted once
    with CaptureQueriesContext(connection) as few:
        before = reader.get(f"{API}{name}").json()
    west = a_site("west")
    fill(west, 20)
    for number in range(20):
        a_class(f"class-{number}")
        text_of_token(User.objects.create(username=f"user-{number}"))

    with CaptureQueriesContext(connection) as many:
        after = reader.get(f"{API}{name}").json()

    assert len(many) == len(few)
    if name not in ("tests", "thresholds", "tokens"):
        assert len(after["results"]) > len(before["results"])


def test_the_nodes_of_a_job_cost_the_same_for_few_and_for_many(reader: Client, site: Site) -> None:
    small, large = fill(site, 2), fill(a_site("west"), 20)
    reader.get(f"{API}fleet")
    with CaptureQueriesContext(connection) as few:
        two = reader.get(f"{API}jobs/{small.pk}/nodes").json()["results"]
    with CaptureQueriesContext(connection) as many:
        twenty = reader.get(f"{API}jobs/{large.pk}/nodes").json()["results"]

    assert (len(two), len(twenty)) == (2, 20)
    assert [cell["verdict"] for cell in twenty[0]["runs"]] == ["failed"]
    assert len(many) == len(few)


def test_the_pairs_of_a_run_are_paged_narrowed_and_cost_the_same(
    reader: Client, site: Site
) -> None:
    small = run_between(site, 2, {("n2", "n1", "mlx5_1:1"): 49.1})
    large = run_between(a_site("west"), 6, {})
    reader.get(f"{API}fleet")
    with CaptureQueriesContext(connection) as few:
        two = reader.get(f"{API}runs/{small.pk}/pairs?metric=port_share&link=mlx5_1:1").json()
    with CaptureQueriesContext(connection) as many:
        six = everything(reader, f"{API}runs/{large.pk}/pairs?page_size=500")

    assert [(row["source"], row["value"]) for row in two["results"]] == [("n1", 98), ("n2", 49.1)]
    assert two["results"][0]["unit"] == "%" and two["next"] is None
    assert len(six) == 6 * 5 * 2 * 2
    assert len(many) == len(few)
    paged = everything(reader, f"{API}runs/{small.pk}/pairs?page_size=3&node=n1")
    assert paged == everything(reader, f"{API}runs/{small.pk}/pairs")


def test_pairs_of_a_run_that_there_is_not_are_no_empty_list(reader: Client, site: Site) -> None:
    run = run_between(site, 2, {})
    westerner = caller(a_user(Role.ADMIN, a_site("west"), name="wim"))

    for client, pk in ((westerner, run.pk), (reader, run.job_id)):
        assert client.get(f"{API}runs/{pk}/pairs").status_code == 404
    assert reader.get(f"{API}runs/{run.pk}/pairs?nodes=n1").status_code == 400


def test_the_counts_of_the_fleet_add_up(reader: Client, site: Site) -> None:
    fill(site, 3)
    Node.objects.filter(name="n1").update(excluded_because="on loan")

    shown = reader.get(f"{API}fleet").json()

    assert shown["total"] == sum(shown["counts"].values()) == 3
    assert shown["counts"]["skipped"] == 1
    row = reader.get(f"{API}nodes/east/n1").json()
    assert (row["place"], row["why"]) == ("skipped", "on loan")
    assert [r["name"] for r in reader.get(f"{API}nodes?place=skipped").json()["results"]] == ["n1"]


@pytest.mark.parametrize("name", LISTS)
def test_pages_show_every_row_once(reader: Client, site: Site, name: str) -> None:
    load_shipped()
    fill(site, 5)
    fill(a_site("west"), 3)

    whole = everything(reader, f"{API}{name}?page_size=500")
    paged = everything(reader, f"{API}{name}?page_size=2")

    assert whole
    assert paged == whole


def test_rows_of_the_same_moment_are_paged_one_by_one(reader: Client, site: Site) -> None:
    job = fill(site, 5)
    type(job).objects.update(created_at=job.created_at)

    ids = [row["id"] for row in everything(reader, f"{API}jobs?page_size=2")]

    assert len(set(ids)) == len(ids) == 6


@pytest.mark.parametrize("name", OF_SITES)
def test_a_list_holds_nothing_of_a_site_that_the_caller_may_not_see(site: Site, name: str) -> None:
    fill(site, 2)
    easterner = caller(a_user(Role.ADMIN, site))
    before = easterner.get(f"{API}{name}").json()
    fill(a_site("west"), 2)

    assert before["results"]
    assert easterner.get(f"{API}{name}").json() == before


@pytest.mark.parametrize("name", [*LISTS, "tests", "sites/east", "nodes/east/n1"])
def test_what_did_not_change_is_not_sent_again(reader: Client, site: Site, name: str) -> None:
    load_shipped()
    fill(site, 2)
    reader.get(f"{API}{name}")
    first = reader.get(f"{API}{name}")

    again = reader.get(f"{API}{name}", headers={"if-none-match": first["ETag"]})

    assert (again.status_code, again.content) == (304, b"")
    assert again["ETag"] == first["ETag"]
    assert first["Cache-Control"] == "private, no-cache"
    assert {"Authorization", "Cookie"} <= set(first["Vary"].split(", "))


def test_a_job_whose_runs_moved_is_sent_again(reader: Client, site: Site) -> None:
    job = fill(site, 2)
    tag = reader.get(f"{API}jobs/{job.pk}")["ETag"]
    JobCount.objects.filter(job=job).update(count=7)

    again = reader.get(f"{API}jobs/{job.pk}", headers={"if-none-match": tag})

    assert again.status_code == 200
    assert again["ETag"] != tag


def test_a_renamed_node_is_sent_again(reader: Client, site: Site) -> None:
    job = fill(site, 1)
    url = f"{API}runs?job={job.pk}"
    tag = reader.get(url)["ETag"]
    Node.objects.update(name="renamed")

    assert reader.get(url, headers={"if-none-match": tag}).status_code == 200


def test_a_row_more_behind_a_full_page_is_another_answer(reader: Client, site: Site) -> None:
    a_site("aaa")
    tag = reader.get(f"{API}sites?page_size=2")["ETag"]
    a_site("zzz")

    assert reader.get(f"{API}sites?page_size=2", headers={"if-none-match": tag}).status_code == 200


@pytest.mark.parametrize("name", LISTS)
def test_a_misspelled_filter_does_not_answer_with_everything(reader: Client, name: str) -> None:
    answer = reader.get(f"{API}{name}?stat=active")

    assert answer.status_code == 400
    assert answer.json()["error"].startswith("stat: there is no such filter; there are ")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("cursor=x", "cursor: this is no cursor of this list"),
        ("cursor=" + "A" * 3000, "cursor: this is no cursor of this list"),
        ("cursor=" + "W1tb" * 490, "cursor: this is no cursor of this list"),
        ("cursor=WyJ4Il0", "cursor: this is no cursor of this list"),
        ("cursor=WyI5OTk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5Il0", "cursor: this is no cursor"),
        ("page_size=0", "page_size: give a number from 1 to 500"),
        ("page_size=x", "page_size: give a number from 1 to 500"),
        ("page_size=501", "page_size: give a number from 1 to 500"),
        ("verdict=good", "verdict: 'good' is none of passed, failed, "),
        ("since=yesterday", "since: give a time like 2026-11-02T09:15:00Z"),
        ("run=7", "run: give the whole id"),
        ("run=", "run: give a value, or leave it out"),
        ("slug=%00", "the address holds a NUL"),
    ],
)
def test_a_parameter_that_means_nothing_is_refused(
    reader: Client, site: Site, query: str, words: str
) -> None:
    answer = reader.get(f"{API}results?{query}")

    assert answer.status_code == 400
    assert answer.json()["error"].startswith(words)


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("verdict=failed", 2),
        ("verdict=passed", 0),
        ("verdict=passed&verdict=failed", 2),
        ("node=n1", 1),
        ("slug=single-node.hello-world&site=east", 2),
        ("node=n2&verdict=passed", 0),
        ("cause=hardware", 2),
        ("since=2026-11-29T12:00:00Z", 2),
        ("until=2026-11-29T12:00:00Z", 0),
    ],
)
def test_results_are_narrowed(reader: Client, site: Site, query: str, count: int) -> None:
    fill(site, 2)

    assert len(reader.get(f"{API}results?{query}").json()["results"]) == count


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("nodes?site=est&place=failing", "site: there is no 'est' that you may see; see /api/v1/s"),
        ("nodes?site=west", "site: there is no 'west' that you may see"),
        ("nodes?resource_class=h100", "resource_class: there is no 'h100'"),
        ("results?node=n9&verdict=failed", "node: there is no 'n9' that you may see"),
        ("results?node=w7", "node: there is no 'w7' that you may see"),
        ("runs?slug=single-node.memory-stres", "slug: there is no 'single-node.memory-stres'"),
        ("jobs?preset=quik", "preset: there is no 'quik'"),
    ],
)
def test_a_name_that_there_is_not_does_not_read_as_nothing_failing(
    site: Site, path: str, sentence: str
) -> None:
    fill(site, 1)
    nodes_of(a_site("west"), 7, prefix="w")
    easterner = caller(a_user(Role.ADMIN, site))

    answer = easterner.get(f"{API}{path}")

    assert answer.status_code == 400
    assert answer.json()["error"].startswith(sentence)


def test_runs_of_a_job_are_its_own(reader: Client, site: Site) -> None:
    job = fill(site, 2)

    rows = reader.get(f"{API}runs?job={job.pk}").json()["results"]

    assert {row["id"] for row in rows} == {str(run.pk) for run in TestRun.objects.filter(job=job)}
    assert sorted(row["nodes"][0] for row in rows) == ["n1", "n2"]
