"""`hardware_tests dispatch --site`: the test author's way through the hub, on a simulated site."""

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import pytest
from django.core.management.base import OutputWrapper

from burnin.hardware_tests.run_context import BadRunContext
from burnin.management.hardware_tests import through_hub
from burnin.models import Job
from burnin.models.job import JobState
from burnin.states import Verdict
from burnin.tests.workflow.simulated import Hub, make_hub
from burnin.tests.workflow.workloads import failing, hello
from burnin.workflow import wiring
from burnin.workflow.bells import Silence
from burnin.workflow.plan import PlanRefused
from runner.contract.slugs import Slugs

pytestmark = pytest.mark.django_db


@dataclass
class HubClock:
    """Sleeping lets the simulated hub work."""

    hub: Hub

    def now(self) -> datetime:
        return self.hub.now

    def sleep(self, seconds: float) -> None:
        self.hub.advance(5)


@dataclass
class Author:
    """Somebody at a terminal."""

    hub: Hub
    told: list[str] = field(default_factory=list)
    wants_to_stop: Callable[[], bool] = lambda: False
    output: str = ""

    def dispatches(self, **changes: Any) -> int:
        options = {
            "slug": Slugs.HELLO_WORLD,
            "params": "{}",
            "partition": None,
            "timeout": 30,
            "nodelist": "n[1-2]",
            "nodes": None,
            "iterations": 1,
            "site": "east",
            "resource_class": None,
            **changes,
        }
        stdout = io.StringIO()
        code = through_hub.dispatch(
            OutputWrapper(stdout),
            options,
            HubClock(self.hub),
            tell=self.told.append,
            why_stop=lambda: "Ctrl-C" if self.wants_to_stop() else "",
        )
        self.output = stdout.getvalue()
        return code


@pytest.fixture
def author(monkeypatch: pytest.MonkeyPatch) -> Author:
    hub = make_hub("n1", "n2")
    monkeypatch.setattr(wiring, "store", lambda: hub.store)
    monkeypatch.setattr(wiring, "site_queue", lambda: hub.queue)
    monkeypatch.setattr(wiring, "bells", Silence)
    return Author(hub)


def test_it_is_followed_to_the_verdict_of_every_node(author: Author) -> None:
    assert author.dispatches() == 0

    assert "n1 judged, passed" in author.told
    assert "n1: PASSED: " in author.output
    assert "n2: PASSED: " in author.output


def test_the_worst_verdict_is_the_exit_code(author: Author) -> None:
    author.hub.site.workload = lambda order: (failing if '"n2"' in order.context else hello)(order)

    assert author.dispatches() == 1


@pytest.mark.parametrize(
    ("verdicts", "worst"),
    [
        ([Verdict.SKIPPED, Verdict.FAILED, Verdict.MEASURED, Verdict.PASSED], Verdict.FAILED),
        ([Verdict.PASSED, Verdict.ERRORED, Verdict.INCONCLUSIVE], Verdict.INCONCLUSIVE),
        ([Verdict.PASSED, Verdict.MEASURED], Verdict.MEASURED),
        ([], Verdict.ERRORED),
    ],
)
def test_a_failed_node_is_never_hidden_by_a_skipped_one(
    verdicts: list[Verdict], worst: Verdict
) -> None:
    assert through_hub.worst(verdicts) is worst


def test_every_verdict_has_its_rank() -> None:
    assert set(through_hub.WORST_FIRST) == set(Verdict)


def test_ctrl_c_cancels_the_job_and_waits_for_slurm(author: Author) -> None:
    author.hub.site.workload = lambda order: hello(order, duration_s=1000)
    author.wants_to_stop = lambda: len(author.told) > 2

    assert author.dispatches() == 4
    assert "cancelling: Ctrl-C" in author.told
    assert Job.objects.get().cancel_reason == "cancelled by the command line: Ctrl-C"


def test_ctrl_c_before_anything_is_submitted_skips_the_runs(author: Author) -> None:
    author.hub.is_on = False  # nothing is dispatched
    author.wants_to_stop = lambda: True

    assert author.dispatches() == 4
    assert "n1: SKIPPED: cancelled by the command line: Ctrl-C" in author.output
    assert not author.hub.site.workloads_asked


def test_ctrl_c_that_comes_too_late_changes_no_verdict(author: Author) -> None:
    author.wants_to_stop = lambda: Job.objects.get().state == JobState.DONE

    assert author.dispatches() == 0
    assert "n1: PASSED: " in author.output


def test_as_many_nodes_as_were_asked_for_are_chosen(author: Author) -> None:
    assert author.dispatches(nodelist=None, nodes=2) == 0

    assert "n1: PASSED: " in author.output
    assert "n2: PASSED: " in author.output


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"site": "mars"}, PlanRefused, "the hub has no site 'mars' (known: east)"),
        ({"nodelist": None}, BadRunContext, "give --nodelist or --nodes"),
        ({"nodelist": None, "nodes": 3}, BadRunContext, "site east has 2 that can be used"),
        ({"nodelist": None, "nodes": 0}, BadRunContext, "0 nodes were asked for"),
        ({"evidence": True}, BadRunContext, "--evidence means nothing"),
        ({"resource_class": "cpu-generic"}, BadRunContext, "leave --resource-class out"),
        ({"partition": "moon"}, PlanRefused, "go to its partition main"),
        ({"nodelist": "n9"}, PlanRefused, "has no node n9"),
    ],
)
def test_what_the_hub_cannot_do_is_said_in_one_sentence(
    author: Author, changes: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error) as refused:
        author.dispatches(**changes)

    assert words in str(refused.value)
    assert not Job.objects.exists()
