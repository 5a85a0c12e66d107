"""The real thing, brought up three times: four verdicts, kill -9 and Ctrl-C in memory-stress.

One story is lived through once, and each test asks it one question.
"""

from __future__ import annotations

import http.cookiejar
import re
import shutil
import signal
import tempfile
import urllib.parse
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from deploy.cluster import layout, processes
from deploy.one_machine import remains
from deploy.one_machine.place import LOGIN_NAME
from deploy.one_machine.tests import running
from runner.contract.slugs import Slugs

pytestmark = [pytest.mark.cluster, pytest.mark.xdist_group("one machine")]  # one story

UP_S, TESTS_S, END_S = 120.0, 120.0, 10.0
VERDICT = re.compile(r"^\d\d:\d\d:\d\d  (\S+) +([A-Z]+)  +(\S.*)$", re.MULTILINE)
# What an operator may do to a preset in the admin, so that nobody here waits for minutes.
SHORT = """
from burnin.models import PresetStep
PresetStep.objects.filter(slug="single-node.storage").update(params={"duration_s": 1})
PresetStep.objects.filter(slug="single-node.memory-stress").update(params={"duration_s": 5})
"""
ONLY_MEMORY = """
from burnin.models import PresetStep
PresetStep.objects.exclude(slug="single-node.memory-stress").delete()
PresetStep.objects.update(params={"duration_s": 560})
"""
STANDING = """
from burnin.models import NodeStanding
standing = NodeStanding.objects.get(node__site__name="one-machine")
print(standing.state, standing.reason)
"""
COUNTED = """
from django.utils import timezone
from burnin.selectors.nodes import counts, nodes_at
from fleet.models import Site
print("counted", sum(counts(nodes_at(Site.objects.all(), timezone.now())).values()))
"""


@dataclass(frozen=True)
class Ended:
    """How a start ended, and which processes held its token or its Slurm's files then."""

    exit_code: int | None
    took_s: float
    left: tuple[str, ...]


@dataclass(frozen=True)
class Story:
    first: str  # what the first start said
    page: str  # of the first start's burn-in, as a browser gets it
    standing: str  # of the machine after its first burn-in
    counted: str  # how many nodes pages count
    neighbour: str  # what was said to a second start at the same time
    killed: str
    again: str  # what the start after the kill -9 said
    idle_end: Ended
    busy_end: Ended


@pytest.fixture(scope="module")
def story() -> Iterator[Story]:
    home = Path(tempfile.mkdtemp(prefix="one-machine-")) / "installation"
    started: list[running.Running] = []
    try:
        yield _live(home, started)
    finally:
        for each in started:
            each.process.send_signal(signal.SIGTERM)
            each.process.wait(timeout=30)
        shutil.rmtree(home.parent, ignore_errors=True)


def _live(home: Path, started: list[running.Running]) -> Story:
    def start(*options: str) -> running.Running:
        started.append(running.start(home, *options))
        return started[-1]

    running.manage(home, "migrate", "--verbosity", "0")
    running.manage(home, "load_catalogue")
    running.manage(home, "shell", "-c", SHORT)

    first = start()
    first.wait_for(r"^\S+: [A-Z]+, see ", for_s=UP_S + TESTS_S)
    page = _visit(first.said)
    standing = running.manage(home, "shell", "-c", STANDING)
    counted = running.manage(home, "shell", "-c", COUNTED)
    first.end_by_force("slurmctld")
    first.wait_for("^slurmctld had ended and was started again$", for_s=UP_S)
    first.end_by_force("redis-server")
    first.wait_for(r"^redis ended by itself \(-9\) and is started again in 1 s", for_s=UP_S)
    neighbour = running.start(home)
    neighbour.process.wait(timeout=30)
    idle_end = _ctrl_c(first)

    running.manage(home, "shell", "-c", ONLY_MEMORY)
    killed = start("--burn-in")
    killed.wait_for("^Burning in", for_s=UP_S)
    killed.wait_for_process("stressapptest", for_s=UP_S)
    killed.wait_for_run("running", for_s=UP_S)
    killed.kill()

    again = start("--burn-in")
    again.wait_for("^Burning in", for_s=UP_S)
    again.wait_for_process("stressapptest", for_s=UP_S)
    busy_end = _ctrl_c(again)
    return Story(
        first=first.said,
        page=page,
        standing=standing,
        counted=counted,
        neighbour=neighbour.said,
        killed=killed.said,
        again=again.said,
        idle_end=idle_end,
        busy_end=busy_end,
    )


def _ctrl_c(start: running.Running) -> Ended:
    """Press Ctrl-C, and look ten seconds later, or when it says that it has ended."""
    token = start.token
    exit_code, took_s = start.press_ctrl_c(for_s=END_S)
    left = sorted(running.names(remains.marked(token)))
    cluster = layout.load(start.home / "cluster")
    assert cluster is not None
    return Ended(exit_code, took_s, (*left, *(each.name for each in processes.find(cluster))))


def _visit(said: str) -> str:
    """Return the page of the burn-in, opened as a browser would by what was printed."""
    shown = re.search(r"^(http\S+)/  log in as (\S+), password (\S+)$", said, re.MULTILINE)
    page = re.search(r"^\S+: [A-Z]+, see (http\S+)$", said, re.MULTILINE)
    assert shown and page, said
    _, name, password = shown.groups()
    cookies = http.cookiejar.CookieJar()
    browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(cookies))
    login = browser.open(page[1], timeout=20).geturl()  # it sends whoever is not logged in there
    csrf = next(str(each.value) for each in cookies if each.name == "csrftoken")
    fields = {"username": name, "password": password, "csrfmiddlewaretoken": csrf}
    form = urllib.parse.urlencode({**fields, "next": urllib.parse.urlsplit(page[1]).path})
    request = urllib.request.Request(login, form.encode(), {"Referer": login})
    with browser.open(request, timeout=20) as answer:
        assert answer.geturl() == page[1]
        return str(answer.read().decode())


def verdicts(said: str) -> dict[str, str]:
    return {slug: verdict for slug, verdict, _ in VERDICT.findall(said)}


def test_the_first_start_burns_the_machine_in(story: Story) -> None:
    assert verdicts(story.first) == {
        Slugs.HELLO_WORLD: "PASSED",
        Slugs.NODE_HEALTH: "PASSED",
        Slugs.STORAGE: "PASSED",
        Slugs.MEMORY_STRESS: "PASSED",
    }


def test_the_printed_login_opens_the_page_of_the_burn_in(story: Story) -> None:
    assert f"log in as {LOGIN_NAME}, password " in story.first
    assert all(slug in story.page for slug in verdicts(story.first))


def test_a_machine_that_passed_all_is_accepted(story: Story) -> None:
    assert "accepted all 4 required tests passed" in story.standing
    assert re.search(r"^\S+ is accepted: all 4 required tests passed", story.first, re.MULTILINE)


def test_nothing_is_counted_but_this_machine(story: Story) -> None:
    assert "counted 1\n" in story.counted


def test_a_second_start_at_the_same_time_says_so(story: Story) -> None:
    assert re.fullmatch(
        r"make run: it runs already, at http://127\.0\.0\.1:\d+ \(process \d+\): "
        r"press Ctrl-C there\n",
        story.neighbour,
    )


def test_ctrl_c_ends_what_idles(story: Story) -> None:
    assert story.idle_end.exit_code == 0
    assert story.idle_end.left == ()


def test_ctrl_c_in_the_middle_of_memory_stress_leaves_nothing(story: Story) -> None:
    assert story.busy_end.left == ()
    assert story.busy_end.exit_code == 0
    assert story.busy_end.took_s < END_S


def test_ctrl_c_is_what_the_cancelled_run_is_judged_by(story: Story) -> None:
    assert "cancelled by make run: `make run` was ended" in story.again


def test_a_start_after_kill_9_clears_what_was_left_and_keeps_the_history(story: Story) -> None:
    assert re.search(r"^Ended \d+ processes that an earlier `make run` had left$",
                     story.again, re.MULTILINE)  # fmt: skip
    assert "cancelled by make run: `make run` was killed while this ran" in story.again
    assert "PASSED" not in story.killed


def test_what_ends_by_itself_is_started_again(story: Story) -> None:
    assert "slurmctld had ended and was started again" in story.first
    assert "redis ended by itself (-9)" in story.first
    assert story.idle_end.exit_code == 0
