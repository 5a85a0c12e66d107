"""The log of a run: numbered lines with permalinks, live while it grows, and the raw file."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.test import Client
from pytest_django import Settings

from burnin.models import Attempt, TestRun
from burnin.satellite.messages import LogPart
from burnin.states import RunState
from burnin.tests.dashboards.reading import body_of, page_text
from burnin.tests.dashboards.test_run_pages import a_run, kept
from burnin.tests.factories import a_site, a_user, bring_to, judge
from burnin.workflow import logs
from fleet.access import Role
from fleet.models import Site

pytestmark = [pytest.mark.django_db, pytest.mark.one_database]


@pytest.fixture
def site() -> Site:
    # Its satellite is long silent, so nothing is asked of a broker that is not there.
    return a_site()


@pytest.fixture
def viewer(client: Client, site: Site, settings: Settings, tmp_path: Path) -> Client:
    settings.STORE = f"local:{tmp_path / 'store'}"
    settings.VAR_DIR = tmp_path
    client.force_login(a_user(Role.VIEWER, site))
    return client


@dataclass(frozen=True)
class Live:
    """A run that writes its log now."""

    run: TestRun

    def write(self, content: bytes) -> None:
        token = Attempt.objects.get(run=self.run).token
        offset = logs.size(token, "stdout.txt")
        part = LogPart.model_validate(
            {
                "run_id": token.run_id,
                "attempt": 1,
                "name": "stdout.txt",
                "offset": offset,
                "content": b64encode(content),
            }
        )
        logs.write(token, part)


def live_run(site: Site) -> Live:
    run = a_run(site)
    bring_to([run], RunState.RUNNING)
    return Live(run)


def finished(site: Site, content: bytes) -> TestRun:
    run = a_run(site)
    judge([run])
    kept(run, "stdout.txt", content)
    return run


def test_lines_have_numbers_that_are_permalinks(viewer: Client, site: Site) -> None:
    run = finished(site, b"one\n<two>\n")

    text = page_text(viewer, f"/runs/{run.pk}/log")

    assert f'<a id="L2" href="/runs/{run.pk}/log#L2" data-n="2">&lt;two&gt;</a>' in text
    assert "hx-get" not in text[text.index('id="log"') :]


def test_a_line_in_the_middle_of_a_long_log_is_shown_where_it_is_linked(
    viewer: Client, site: Site
) -> None:
    run = finished(site, b"".join(b"line %d\n" % number for number in range(1, 5001)))

    plain = page_text(viewer, f"/runs/{run.pk}/log")
    linked = page_text(viewer, f"/runs/{run.pk}/log?line=2500")

    assert 'id="L2500"' not in plain
    assert f'href="/runs/{run.pk}/log?line=4600#L4600"' in plain
    assert 'data-n="2500" class="on">line 2500</a>' in linked


def test_the_lines_of_a_live_log_follow_and_end(viewer: Client, site: Site) -> None:
    live = live_run(site)
    live.write(b"one\ntw")
    text = page_text(viewer, f"/runs/{live.run.pk}/log")
    tail = f"/runs/{live.run.pk}/log?part=tail&offset=4&after=1"
    assert tail.replace("&", "&amp;") in text
    assert 'id="L2"' not in text

    assert viewer.get(tail).status_code == 204
    live.write(b"o\nthree\n")
    more = page_text(viewer, tail)
    assert f'href="/runs/{live.run.pk}/log#L3" data-n="3">three</a>' in more
    assert "offset=14&amp;after=3" in more

    kept(live.run, "stdout.txt", b"one\ntwo\nthree\nend\n")
    last = viewer.get(f"/runs/{live.run.pk}/log?part=tail&offset=14&after=3")
    assert last.status_code == 286
    assert b'data-n="4">end</a>' in last.content
    assert b"hx-get" not in last.content


def test_a_silent_satellite_is_named_on_a_live_log(viewer: Client, site: Site) -> None:
    live = live_run(site)

    text = page_text(viewer, f"/runs/{live.run.pk}/log")

    assert "No satellite of site east is alive" in text


def test_the_raw_log_is_what_came_so_far_then_the_collected_file(
    viewer: Client, site: Site
) -> None:
    live = live_run(site)
    live.write(b"one\ntw")

    assert body_of(viewer, f"/runs/{live.run.pk}/log/raw") == "one\ntw"
    file = kept(live.run, "stdout.txt", b"one\ntwo\n")
    answer = viewer.get(f"/runs/{live.run.pk}/log/raw")
    assert answer["Location"] == f"/runs/{live.run.pk}/artifacts/{file.pk}"


def test_a_log_that_is_none_is_404_and_one_that_was_not_written_says_so(
    viewer: Client, site: Site
) -> None:
    run = finished(site, b"x\n")

    assert viewer.get(f"/runs/{run.pk}/log?name=/etc/passwd").status_code == 404
    assert "Nothing was written" in page_text(viewer, f"/runs/{run.pk}/log?name=stderr.txt")
    assert "Nothing was written" in page_text(viewer, f"/runs/{run.pk}/log?attempt=7")


def test_a_file_that_the_store_lost_is_said_in_a_sentence(viewer: Client, site: Site) -> None:
    run = finished(site, b"x\n")
    file = Attempt.objects.get(run=run).artifacts.get()
    file.key = "artifacts/gone/1/stdout.txt"
    file.save()

    assert "does not answer" in page_text(viewer, f"/runs/{run.pk}/log", status=503)
