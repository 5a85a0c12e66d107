"""One run: what it measured, what it was asked, what happened, and the files that prove it."""

from __future__ import annotations

import hashlib
import json
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from burnin.models import Artifact, Attempt, Job, MetricRow, TestResult, TestRun
from burnin.models.job import JobState, JobVerdict
from burnin.states import Cause, RunState, Verdict
from burnin.storage.store import kept_key
from burnin.tests.dashboards.reading import body_of, page_text
from burnin.tests.factories import NOW, a_site, a_user, bring_to, judge, nodes_of
from burnin.tests.jobs import planned_job
from burnin.tests.models.measured import measured_margin
from burnin.tests.pair_rows import run_between
from burnin.workflow import wiring
from fleet.access import Role
from fleet.models import Site
from runner.contract.slugs import Slugs

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]
HELLO, MEMORY = Slugs.HELLO_WORLD, Slugs.MEMORY_STRESS


@pytest.fixture
def site() -> Site:
    return a_site()


@pytest.fixture
def viewer(client: Client, site: Site, settings: Settings, tmp_path: Path) -> Client:
    settings.STORE = f"local:{tmp_path / 'store'}"
    settings.VAR_DIR = tmp_path
    client.force_login(a_user(Role.VIEWER, site))
    return client


def a_run(site: Site) -> TestRun:
    _, runs = planned_job(nodes_of(site, 1), HELLO)
    return runs["n1", HELLO]


def failed_run(site: Site) -> TestRun:
    run = a_run(site)
    measured = measured_margin(-0.25, detail="nvme1n1 is slow")
    reason = measured.evaluation.reason
    judge([run], Verdict.FAILED, cause=Cause.HARDWARE, reason=reason, measured=measured)
    return run


def test_the_trend_opens_on_the_gate_that_does_not_hold(viewer: Client, site: Site) -> None:
    _, runs = planned_job(nodes_of(site, 1), HELLO, MEMORY)
    judge([runs["n1", HELLO]], Verdict.PASSED, measured=measured_margin(0.5))
    run, broken = runs["n1", MEMORY], measured_margin(-0.25)
    judge([run], Verdict.FAILED, cause=Cause.HARDWARE, reason="slow", measured=broken)
    slow = MetricRow.objects.get(result__run=run)
    MetricRow.objects.create(
        result=slow.result, node=slow.node, position=0, name="first", label="First", value=1
    )

    link = f"/nodes/{site.name}/n1/?metric={MEMORY}:speed#trend"
    assert f'href="{link}"' in page_text(viewer, f"/runs/{run.pk}/")
    for address in (link, f"/nodes/{site.name}/n1/"):
        assert f'<option value="{MEMORY}:speed" selected>' in page_text(viewer, address)


@pytest.mark.parametrize(
    ("verdict", "route"),
    [
        (Verdict.FAILED, "rerun-failed"),
        (Verdict.INCONCLUSIVE, "rerun-failed"),
        (Verdict.ERRORED, "rerun-errored"),
    ],
)
def test_a_run_that_did_not_pass_says_what_comes_next(
    client: Client, viewer: Client, site: Site, verdict: Verdict, route: str
) -> None:
    run = a_run(site)
    judge([run], verdict)
    address = f"/runs/{run.pk}/"
    as_a_viewer = page_text(client, address)
    client.force_login(a_user(Role.OPERATOR, site, name="ann"))

    underway = page_text(client, address)
    Job.objects.update(state=JobState.DONE, verdict=JobVerdict.FAILED, finished_at=NOW)
    done = page_text(client, address)

    link = f'href="/jobs/{run.job_id}/{route}"'
    assert "Next: " not in as_a_viewer and link not in as_a_viewer
    assert "It can be re-run once" in underway and link not in underway
    assert link in done and f'href="/nodes/{site.name}/n1/operation"' in done


def test_a_run_that_passed_needs_nothing_next(client: Client, site: Site) -> None:
    run = a_run(site)
    judge([run], Verdict.PASSED)
    client.force_login(a_user(Role.OPERATOR, site, name="ann"))

    assert "Next: " not in page_text(client, f"/runs/{run.pk}/")


def kept(run: TestRun, name: str, content: bytes) -> Artifact:
    """Put a collected file of the run's first attempt into the store."""
    attempt = Attempt.objects.get(run=run)
    key = kept_key(attempt.token, "0", name)
    wiring.store().put(key, content)
    digest = hashlib.sha256(content).hexdigest()
    return Artifact.objects.create(
        attempt=attempt, name=name, key=key, size_bytes=len(content), sha256=digest
    )


def test_a_metric_stands_with_the_bound_it_was_asked(viewer: Client, site: Site) -> None:
    run = failed_run(site)

    text = page_text(viewer, f"/runs/{run.pk}/")

    metric = text[text.index('<div class="metric">') : text.index("Script as submitted")]
    for part in ("Speed", "<b>6</b> GB/s", "≥ 8 GB/s", "−25.0 %", "shipped:1", "the data sheet"):
        assert part in metric
    assert "nvme1n1 is slow" in metric
    assert "0 of 1 gates hold" in text
    assert "Counts against the node" in text


def test_what_no_gate_asked_says_why_not(viewer: Client, site: Site) -> None:
    run = failed_run(site)
    bound = {"value": None, "better": "higher", "why": "any machine", "standing": "not_gated"}
    entry = {"metric": "speed", "label": "Speed", "value": 6.0, "unit": "GB/s", "detail": ""}
    evaluation = [{**entry, "passed": None, "bound": bound}]
    TestResult.objects.update(evaluation=evaluation)

    text = page_text(viewer, f"/runs/{run.pk}/")

    assert "not gated" in text
    assert "any machine" in text
    assert "nothing gates" in text


def test_the_timeline_tells_each_move_and_slurms_facts(viewer: Client, site: Site) -> None:
    run = failed_run(site)
    Attempt.objects.update(
        slurm_state="FAILED",
        exit_code="1:0",
        derived_exit_code="1:0",
        node_list="n1",
        context={"node_names": ["n1"], "time_limit_s": 300},
    )

    text = page_text(viewer, f"/runs/{run.pk}/")

    places = [text.index(f"<b>{word}</b>") for word in ("Planned", "Sent", "Submitted", "Started")]
    assert places == sorted(places)
    assert "<b>Judged failed</b>" in text
    assert "FAILED, exit 1:0, derived 1:0" in text
    assert "<dt>Asked for</dt><dd>n1</dd>" in text


def test_the_iterations_are_summed_up(viewer: Client, site: Site) -> None:
    run = failed_run(site)
    summary = {"worst": 6.0, "median": 7.5, "spread": 2.0}
    TestResult.objects.update(
        iterations={"passed": 2, "failed": 1, "errored": 0, "metrics": {"speed": summary}}
    )

    text = page_text(viewer, f"/runs/{run.pk}/")

    assert "2 of 3 passed; all must" in text
    assert "7.50 GB/s" in text


def test_an_artifact_is_a_link_that_reads_it_for_a_minute(viewer: Client, site: Site) -> None:
    run = failed_run(site)
    file = kept(run, "stdout.txt", b"hello\n")

    text = page_text(viewer, f"/runs/{run.pk}/")
    address = f"/runs/{run.pk}/artifacts/{file.pk}"
    answer = viewer.get(address)

    assert address in text
    assert file.sha256 in text
    assert "6 B" in text
    link = urlsplit(answer["Location"])
    assert (answer.status_code, answer["Cache-Control"]) == (302, "private, no-store")
    assert body_of(Client(), f"{link.path}?{link.query}") == "hello\n"


def test_nobody_reads_an_artifact_of_another_site_or_run(viewer: Client, site: Site) -> None:
    run, foreign = failed_run(site), failed_run(a_site("west"))
    file, theirs = kept(run, "stdout.txt", b"x"), kept(foreign, "stdout.txt", b"y")

    addresses = [
        f"/runs/{foreign.pk}/",
        f"/runs/{foreign.pk}/artifacts/{theirs.pk}",
        f"/runs/{run.pk}/artifacts/{theirs.pk}",
        f"/runs/{foreign.pk}/artifacts/{file.pk}",
        f"/runs/{foreign.pk}/log",
        f"/runs/{foreign.pk}/log/raw",
    ]

    assert [viewer.get(address).status_code for address in addresses] == [404] * 6


def test_a_run_that_waits_says_why_and_asks_again(viewer: Client, site: Site) -> None:
    run = a_run(site)
    bring_to([run], RunState.SUBMITTED)
    TestRun.objects.update(waits_because="its nodes are busy")

    text = page_text(viewer, f"/runs/{run.pk}/")

    assert "Waiting: its nodes are busy" in text
    assert 'hx-trigger="every 3s"' in text


def test_a_live_run_is_sent_again_only_when_it_changed(viewer: Client, site: Site) -> None:
    run = a_run(site)
    bring_to([run], RunState.RUNNING)
    address = f"/runs/{run.pk}/?part=run"
    first = viewer.get(address)

    assert viewer.get(address, headers={"If-None-Match": first["ETag"]}).status_code == 304
    TestRun.objects.update(waits_because="held")
    assert viewer.get(address, headers={"If-None-Match": first["ETag"]}).status_code == 200


def test_a_judged_run_asks_no_more(viewer: Client, site: Site) -> None:
    run = failed_run(site)

    assert "every 3s" not in page_text(viewer, f"/runs/{run.pk}/")
    assert viewer.get(f"/runs/{run.pk}/?part=run").status_code == 286


def test_an_earlier_attempt_has_its_own_page(viewer: Client, site: Site) -> None:
    run = failed_run(site)
    first = Attempt.objects.get()
    Attempt.objects.create(
        run=run,
        number=2,
        script="#!/bin/sh\n# second\n",
        context={},
        bundle_sha256="0" * 64,
        asked_at=first.asked_at,
        uploads_expire_at=first.uploads_expire_at,
    )
    TestRun.objects.update(attempt_number=2)

    assert "# second" in page_text(viewer, f"/runs/{run.pk}/")
    assert "# second" not in page_text(viewer, f"/runs/{run.pk}/?attempt=1")


def test_a_rerun_and_what_it_repeats_name_each_other(viewer: Client, site: Site) -> None:
    old = failed_run(site)
    _, runs = planned_job(list(site.nodes.all()), HELLO)
    new = runs["n1", HELLO]
    TestRun.objects.filter(pk=new.pk).update(rerun_of=old)

    assert f'href="/runs/{new.pk}/"' in page_text(viewer, f"/runs/{old.pk}/")
    assert f'href="/runs/{old.pk}/"' in page_text(viewer, f"/runs/{new.pk}/")


def test_a_run_costs_the_same_whatever_it_left(viewer: Client, site: Site) -> None:
    run = failed_run(site)
    with CaptureQueriesContext(connection) as few:
        page_text(viewer, f"/runs/{run.pk}/")
    for number in range(20):
        kept(run, f"file-{number}.txt", b"x")

    with CaptureQueriesContext(connection) as many:
        page_text(viewer, f"/runs/{run.pk}/")

    assert len(many) == len(few)


def test_a_run_at_work_says_when_it_may_be_done(viewer: Client, site: Site) -> None:
    run = a_run(site)
    bring_to([run], RunState.RUNNING)
    attempt = Attempt.objects.get(run=run)
    attempt.started_at = NOW
    attempt.context = {"params": {"duration_s": 3600}, "iterations": 2}
    attempt.save()
    TestRun.objects.filter(pk=run.pk).update(slug=Slugs.MEMORY_STRESS)

    page = page_text(viewer, f"/runs/{run.pk}/")

    assert f"about {NOW + timedelta(seconds=7320):%Y-%m-%d %H:%M} UTC: its recipe takes" in page


def panel_of_pairs(text: str) -> str:
    panel = text[text.index('id="pairs"') :]
    return panel[: panel.index("</section>")]


def test_the_links_of_a_pair_stand_worst_first_with_both_directions(
    viewer: Client, site: Site
) -> None:
    run = run_between(site, 2, {("n2", "n1", "mlx5_1:1"): 49.1})

    panel = panel_of_pairs(page_text(viewer, f"/runs/{run.pk}/"))

    assert "The port_share, worst first · bound ≥ 95 %" in panel
    first, second = panel[panel.rindex("<tbody>") :].split("</tr>")[:2]
    worst = ("v-failed", "n1 ⇄ n2", "mlx5_1:1", "98 %", "49.1 %", "−48.3 %")
    assert all(part in first for part in worst)
    assert first.index("98 %") < first.index("49.1 %")
    assert "v-passed" in second and "mlx5_0:1" in second
    assert "receives" not in panel  # two nodes are no map


def test_another_metric_of_the_pairs_can_be_asked_for_and_is_not_judged(
    viewer: Client, site: Site
) -> None:
    run = run_between(site, 2, {})

    panel = panel_of_pairs(page_text(viewer, f"/runs/{run.pk}/?metric=bandwidth&page=no"))

    assert "392 Gb/s" in panel and "not gated" in panel
    assert "v-passed" not in panel and "v-failed" not in panel


def test_three_nodes_are_a_map_of_who_sends_and_who_receives(viewer: Client, site: Site) -> None:
    run = run_between(site, 3, {("n3", "n1", "mlx5_0:1"): 60.0})

    panel = panel_of_pairs(page_text(viewer, f"/runs/{run.pk}/"))

    rows = panel[panel.index("Sends → receives") : panel.index("Pairs, worst first")].split("</tr>")
    cells = rows[3].split("<td")[1:]
    assert "n3" in rows[3].split("<td")[0]
    assert 'v-failed">60<' in cells[0] and 'v-passed">98<' in cells[1] and "v-" not in cells[2]


def test_many_pairs_cost_no_more_than_few_and_come_in_pages(viewer: Client, site: Site) -> None:
    few, many = run_between(site, 2, {}), run_between(a_site("west"), 12, {})
    viewer.force_login(a_user(Role.ADMIN, None, name="root"))
    viewer.get(f"/runs/{few.pk}/")

    with CaptureQueriesContext(connection) as small:
        viewer.get(f"/runs/{few.pk}/")
    with CaptureQueriesContext(connection) as large:
        text = page_text(viewer, f"/runs/{many.pk}/?page=2")

    assert len(large) == len(small) + 1  # the map
    assert "21–40 of 132 links" in panel_of_pairs(text)


def test_a_run_of_one_node_has_no_pairs(viewer: Client, site: Site) -> None:
    assert 'id="pairs"' not in page_text(viewer, f"/runs/{failed_run(site).pk}/")


def test_pairs_are_exported_as_they_were_measured(viewer: Client, site: Site) -> None:
    run = run_between(site, 2, {("n2", "n1", "mlx5_1:1"): 49.1})
    address = f"/runs/{run.pk}/pairs"

    lines = body_of(viewer, f"{address}?export=csv&metric=port_share").splitlines()

    assert lines[0] == "source,target,link,metric,value"
    assert "n2,n1,mlx5_1:1,port_share,49.1" in lines
    assert len(lines) == 5
    assert len(json.loads(body_of(viewer, f"{address}?export=json&node=n1"))) == 8
    assert viewer.get(address).status_code == 302
