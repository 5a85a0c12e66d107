"""The list of jobs, and one job with its counts, causes, waits and every node against each test."""

from __future__ import annotations

import base64
import csv
import html
import json
import uuid

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from burnin.dashboards import job as job_page
from burnin.models import Job, TestRun
from burnin.models.job import JobState, JobVerdict
from burnin.states import Cause, RunState, Verdict
from burnin.tests.dashboards.reading import body_of, page_text
from burnin.tests.factories import NOW, a_site, a_user, bring_to, judge, nodes_of
from burnin.tests.jobs import planned_job
from burnin.tests.models.measured import measured_margin
from fleet.access import Role
from fleet.models import Site
from runner.contract.slugs import Slugs

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
HELLO, MEMORY = Slugs.HELLO_WORLD, Slugs.MEMORY_STRESS


@pytest.fixture
def site() -> Site:
    return a_site()


@pytest.fixture
def viewer(client: Client, site: Site) -> Client:
    client.force_login(a_user(Role.VIEWER, site))
    return client


def _finish(job: Job, verdict: JobVerdict = JobVerdict.FAILED) -> None:
    Job.objects.filter(pk=job.pk).update(state=JobState.DONE, verdict=verdict, finished_at=NOW)


def _queries(client: Client, address: str) -> int:
    with CaptureQueriesContext(
        connection,
    ) as asked:
        assert client.get(address).status_code == 200
    return len(asked)


def test_the_list_shows_jobs_of_the_viewers_sites_alone(viewer: Client, site: Site) -> None:
    mine, _ = planned_job(nodes_of(site, 2))
    other, _ = planned_job(nodes_of(a_site("west"), 2))

    text = page_text(viewer, "/jobs/")

    assert str(mine.pk) in text
    assert str(other.pk) not in text
    assert viewer.get(f"/jobs/{other.pk}/").status_code == 404


def test_an_empty_list_says_what_to_do_next(viewer: Client) -> None:
    assert "No jobs yet" in page_text(viewer, "/jobs/")
    assert "Clear filters" in page_text(viewer, "/jobs/?state=done")


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ("/jobs/?state=lost", "State: 'lost' is none of active, cancelling, done"),
        ("/jobs/?since=yesterday", "Not before: give a time like 2026-11-02T09:15:00Z"),
        ("/jobs/{}/runs?job=1", "Job: give the whole id, as lists show it"),
        ("/jobs/{}/runs?stage=first", "Stage: give a number"),
        ("/jobs/{}/?verdict=good", "Verdict: 'good' is none of passed, failed, errored"),
        ("/nodes/?place=here&place=there", "Stands as: 'here' is none of accepted, "),
        ("/nodes/?nodes=n[1-", "Node or hostlist: "),
        ("/audit/?until=soon", "Before: give a time like "),
    ],
)
def test_a_filter_that_makes_no_sense_says_what_would(
    viewer: Client, site: Site, asked: str, says: str
) -> None:
    job, _ = planned_job(nodes_of(site, 1))

    text = html.unescape(page_text(viewer, asked.format(job.pk)))

    assert says in text
    assert "valid choice" not in text


def test_the_list_exports_what_is_filtered(viewer: Client, site: Site) -> None:
    nodes = nodes_of(site, 2)
    done, runs = planned_job(nodes, HELLO)
    judge(list(runs.values()), Verdict.FAILED)
    _finish(done)
    planned_job(nodes, HELLO)

    [row] = csv.DictReader(body_of(viewer, "/jobs/?state=done&export=csv").splitlines())
    every = json.loads(body_of(viewer, "/jobs/?export=json"))

    assert (row["job"], row["failed"], row["nodes"]) == (str(done.pk), "2", "2")
    assert len(every) == 2


def test_the_list_costs_the_same_for_many_jobs(viewer: Client, site: Site) -> None:
    nodes = nodes_of(site, 1)
    planned_job(nodes, HELLO)
    few = _queries(viewer, "/jobs/")
    for _ in range(8):
        planned_job(nodes, HELLO)

    assert _queries(viewer, "/jobs/") == few


def test_counts_on_a_job_add_up_and_link_to_the_nodes(viewer: Client, site: Site) -> None:
    job, runs = planned_job(nodes_of(site, 3), HELLO)
    judge([runs["n1", HELLO]])
    judge([runs["n2", HELLO]], Verdict.FAILED)

    text = page_text(viewer, f"/jobs/{job.pk}/")

    assert "1 passed, 1 failed, 1 waiting" in text
    assert '<a href="?verdict=failed" title="measured, and a bound does not hold' in text


def test_a_failure_an_error_and_a_wait_say_why(viewer: Client, site: Site) -> None:
    job, runs = planned_job(nodes_of(site, 4), HELLO)
    judge([runs["n1", HELLO]], Verdict.FAILED, reason="Bus bandwidth 366.8 GB/s")
    judge([runs["n2", HELLO]], Verdict.ERRORED, cause=Cause.TEST, reason="fio is not installed")
    judge([runs["n3", HELLO]], Verdict.INCONCLUSIVE, reason="the node vanished")
    bring_to([runs["n4", HELLO]], RunState.SUBMITTED)
    TestRun.objects.filter(pk=runs["n4", HELLO].pk).update(waits_because="n4 is reserved")

    text = page_text(viewer, f"/jobs/{job.pk}/")

    split = text[text.index("Hardware failed a gate") : text.index("Why runs wait")]
    assert split.index("366.8 GB/s") < split.index("Test could not run")
    assert split.index("Test could not run") < split.index("fio is not installed")
    assert split.index("Scheduler or infrastructure") < split.index("the node vanished")
    assert "N4 is reserved" in text[text.index("Why runs wait") :]


def _node_rows(text: str) -> list[str]:
    rows = text[text.index("<tbody>") : text.index("</tbody>")].split("<tr>")[1:]
    return [row.partition('/">')[2].partition("<")[0] for row in rows]


def test_the_worst_node_stands_first(viewer: Client, site: Site) -> None:
    job, runs = planned_job(nodes_of(site, 5), HELLO)
    judge([runs["n1", HELLO]], measured=measured_margin(0.5))
    judge([runs["n2", HELLO]], measured=measured_margin(0.125))
    judge([runs["n3", HELLO]], Verdict.ERRORED)
    judge([runs["n4", HELLO]], Verdict.FAILED, measured=measured_margin(-0.25))
    judge([runs["n5", HELLO]], Verdict.FAILED, measured=measured_margin(-0.5))

    text = page_text(viewer, f"/jobs/{job.pk}/?part=matrix")

    assert _node_rows(text) == ["n5", "n4", "n3", "n2", "n1"]
    assert "−50.0 %" in text and "+12.5 %" in text
    assert _node_rows(page_text(viewer, f"/jobs/{job.pk}/?part=matrix&sort=name"))[0] == "n1"


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("verdict=failed", ["n1"]),
        ("verdict=open", ["n2", "n3"]),
        ("nodes=n[1,3]", ["n1", "n3"]),
        ("nodes=2", ["n2"]),
        ("resource_class=cpu-generic&verdict=failed", ["n1"]),
        ("resource_class=h100", []),
    ],
)
def test_the_matrix_is_narrowed(viewer: Client, site: Site, query: str, names: list[str]) -> None:
    job, runs = planned_job(nodes_of(site, 3), HELLO)
    judge([runs["n1", HELLO]], Verdict.FAILED)

    text = page_text(viewer, f"/jobs/{job.pk}/?part=matrix&{query}")

    assert sorted(_node_rows(text) if names else []) == names
    assert names or "Clear filters" in text


def test_a_host_list_that_is_none_is_refused_in_a_sentence(viewer: Client, site: Site) -> None:
    job, _ = planned_job(nodes_of(site, 1), HELLO)

    text = page_text(viewer, f"/jobs/{job.pk}/?nodes=n[1-")

    assert "Node or hostlist: " in text
    assert "No node is like that" in text


def test_a_cell_shows_value_and_reason_and_links_to_its_run(viewer: Client, site: Site) -> None:
    job, runs = planned_job(nodes_of(site, 1))
    judge(
        [runs["n1", HELLO]],
        Verdict.FAILED,
        reason='Speed <4> "GB/s"',
        measured=measured_margin(-0.5),
    )

    text = page_text(viewer, f"/jobs/{job.pk}/?part=matrix")

    assert f'href="/runs/{runs["n1", HELLO].pk}/"' in text
    assert 'title="Speed &lt;4&gt; &quot;GB/s&quot;"' in text
    assert "4 GB/s" in text


def test_the_matrix_is_paged(viewer: Client, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_page, "NODES_A_PAGE", 2)
    job, _ = planned_job(nodes_of(site, 5), HELLO)

    first = page_text(viewer, f"/jobs/{job.pk}/?part=matrix&sort=name")
    last = page_text(viewer, f"/jobs/{job.pk}/?part=matrix&sort=name&page=3")

    assert (_node_rows(first), _node_rows(last)) == (["n1", "n2"], ["n5"])
    assert "1–2 of 5 nodes" in first


def test_the_matrix_exports_every_filtered_node(viewer: Client, site: Site) -> None:
    job, runs = planned_job(nodes_of(site, 3))
    judge([runs["n2", HELLO]], Verdict.FAILED, measured=measured_margin(-0.5))

    rows = list(csv.DictReader(body_of(viewer, f"/jobs/{job.pk}/?export=csv").splitlines()))
    [bad] = json.loads(body_of(viewer, f"/jobs/{job.pk}/?verdict=failed&export=json"))

    assert [row["node"] for row in rows] == ["n2", "n1", "n3"]
    assert (bad["1 single-node.hello-world value"], bad["worst"]) == (4.0, -0.5)
    assert bad["2 single-node.memory-stress verdict"] == "planned"


def test_a_job_costs_the_same_whatever_its_size_and_history(viewer: Client, site: Site) -> None:
    nodes = nodes_of(site, 30)
    small, runs = planned_job(nodes[:2])
    judge([runs["n1", HELLO]], Verdict.FAILED, measured=measured_margin(-0.5))
    few = _queries(viewer, f"/jobs/{small.pk}/")
    large, runs = planned_job(nodes)
    judge([runs[f"n{each}", HELLO] for each in range(1, 20)], Verdict.FAILED,
          measured=measured_margin(-0.5))  # fmt: skip

    assert _queries(viewer, f"/jobs/{large.pk}/") == few
    assert _queries(viewer, f"/jobs/{small.pk}/") == few


@pytest.mark.parametrize("part", ["state", "matrix"])
def test_a_live_part_is_sent_again_only_when_it_changed(
    viewer: Client, site: Site, part: str
) -> None:
    job, runs = planned_job(nodes_of(site, 1), HELLO)
    address = f"/jobs/{job.pk}/?part={part}"
    first = viewer.get(address)

    again = viewer.get(address, headers={"If-None-Match": first["ETag"]})
    judge([runs["n1", HELLO]], Verdict.FAILED)
    changed = viewer.get(address, headers={"If-None-Match": first["ETag"]})
    _finish(job)

    assert (again.status_code, changed.status_code) == (304, 200)
    assert viewer.get(address).status_code == 286


def test_a_page_of_a_done_job_asks_no_more(viewer: Client, site: Site) -> None:
    job, _ = planned_job(nodes_of(site, 1), HELLO)
    assert "hx-trigger" in page_text(viewer, f"/jobs/{job.pk}/")

    _finish(job)

    assert "hx-trigger" not in page_text(viewer, f"/jobs/{job.pk}/")


def test_the_runs_of_a_job_are_listed_narrowed_and_exported(viewer: Client, site: Site) -> None:
    job, runs = planned_job(nodes_of(site, 2), HELLO)
    judge([runs["n1", HELLO]], Verdict.FAILED, reason="slow", measured=measured_margin(-0.5))

    text = page_text(viewer, f"/jobs/{job.pk}/runs?verdict=failed")
    [row] = json.loads(body_of(viewer, f"/jobs/{job.pk}/runs?verdict=failed&export=json"))
    [metric] = json.loads(body_of(viewer, f"/jobs/{job.pk}/metrics?export=json"))

    assert str(runs["n1", HELLO].pk) in text
    assert str(runs["n2", HELLO].pk) not in text
    assert (row["nodes"], row["reason"]) == ("n1", "slow")
    assert (metric["node"], metric["metric"], metric["value"]) == ("n1", "speed", 4.0)


@pytest.mark.parametrize("page", ["", "runs", "metrics", "cancel", "rerun-failed"])
def test_a_job_that_is_not_there_is_404(viewer: Client, page: str) -> None:
    assert viewer.get(f"/jobs/{uuid.uuid4()}/{page}").status_code == 404


@pytest.mark.parametrize(
    "words",
    ["2026-01-01T00:00:00+00:00 x", "2026-01-01T00:00:00 1", "0001-01-01T00:00:00+14:00 1",
     "2026-01-01T00:00:00+00:00", "2026-01-01T00:00:00+00:00 \0", "x"],
    ids=["key", "no-zone", "before-time", "no-key", "nul", "junk"],
)  # fmt: skip
def test_a_damaged_cursor_is_404(viewer: Client, site: Site, words: str) -> None:
    job, _ = planned_job(nodes_of(site, 1), HELLO)
    cursor = base64.urlsafe_b64encode(words.encode()).decode().rstrip("=")

    pages = ("/jobs/", f"/jobs/{job.pk}/runs", "/audit/")
    assert [viewer.get(page, {"cursor": cursor}).status_code for page in pages] == [404] * 3
