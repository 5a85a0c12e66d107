"""How much is sent where, and what becomes of runs whose node is away."""

from dataclasses import replace

import pytest

from burnin.models import Job, TestResult, TestRun, Trouble
from burnin.selectors.matrix import columns_of
from burnin.states import RunState
from burnin.tests.models.world import counters
from burnin.tests.workflow.simulated import make_hub
from burnin.tests.workflow.workloads import hello
from burnin.workflow.plan import StepRequest
from fleet.models import Site
from runner.contract.slugs import Slugs

pytestmark = pytest.mark.django_db

FIRST = StepRequest(Slugs.HELLO_WORLD, timeout_minutes=5)
SECOND = replace(FIRST, stage=2)


def test_no_node_gets_more_jobs_than_the_site_allows() -> None:
    hub = make_hub("n1", "n2")
    Site.objects.update(queue_ahead=2, max_in_flight=3)
    hub.site.workload = lambda order: hello(order, duration_s=1000)
    job = hub.plan(*[FIRST] * 4)

    hub.work()

    in_flight = TestRun.objects.filter(state=RunState.DISPATCHED)
    nodes = list(in_flight.values_list("members__node__name", flat=True))
    assert sorted(nodes) in (["n1", "n1", "n2"], ["n1", "n2", "n2"])
    assert counters(job) == {(1, "planned"): 5, (1, "dispatched"): 3}


def test_idle_nodes_come_first() -> None:
    hub = make_hub("n1", "n2")
    Site.objects.update(queue_ahead=2, max_in_flight=2)
    hub.plan(FIRST, FIRST, nodes=["n1"])
    hub.plan(FIRST, nodes=["n2"])

    hub.work()

    sent = TestRun.objects.filter(state=RunState.DISPATCHED)
    assert set(sent.values_list("members__node__name", flat=True)) == {"n1", "n2"}


def test_what_waits_for_a_node_that_died_is_given_up_after_a_while() -> None:
    hub = make_hub("n1", "n2")
    Site.objects.update(queue_ahead=2)
    job = hub.plan(FIRST, FIRST, FIRST)
    hub.work()

    hub.site.cluster.fail_node("n2")
    hub.advance(90)
    waiting = counters(job)
    planned = TestRun.objects.get(state=RunState.PLANNED)
    hub.advance(1000, tick_s=20)

    assert waiting == {(1, "passed"): 3, (1, "submitted"): 2, (1, "planned"): 1}
    assert planned.waits_because == "n2 is down+not_responding in Slurm"
    assert counters(job) == {(1, "passed"): 3, (1, "skipped"): 3}
    assert set(TestRun.objects.filter(verdict="skipped").values_list("reason", flat=True)) == {
        planned.waits_because
    }


def test_a_node_that_comes_back_in_time_loses_nothing() -> None:
    hub = make_hub("n1", "n2")
    Site.objects.update(queue_ahead=1)
    job = hub.plan(FIRST, FIRST)
    hub.work()
    healthy = dict(hub.site.cluster._nodes)
    hub.site.cluster.fail_node("n2")
    hub.advance(600, tick_s=20)

    hub.site.cluster._nodes = healthy
    hub.advance(120)

    assert counters(job) == {(1, "passed"): 4}


def test_a_run_whose_script_cannot_be_made_is_trouble_of_the_test_and_waits_no_longer() -> None:
    hub = make_hub("n1", "n2")
    job = hub.plan(nodes=["n1"])
    Job.objects.filter(pk=job.pk).update(steps=[{**job.steps[0], "slug": "single-node.retired"}])
    TestRun.objects.update(waits_because="Slurm takes no more jobs for now")

    hub.work()

    run, trouble = TestRun.objects.get(), Trouble.objects.get()
    assert (run.state, run.verdict, run.cause) == ("judged", "errored", "test")
    assert "the batch script could not be made: " in run.reason
    assert run.waits_because == ""
    assert (trouble.node.name, trouble.verdict, trouble.reason) == ("n1", "errored", run.reason)
    assert TestResult.objects.get().attempt is None


@pytest.mark.parametrize("phase", ["planned", "finished"])
def test_a_job_that_another_release_froze_is_errored_and_stops_no_other(phase: str) -> None:
    hub = make_hub("n1", "n2")
    old = hub.plan(nodes=["n1"])
    if phase == "finished":
        hub.work()
        hub.is_on = False
        hub.advance(60)
        hub.is_on = True
    steps = [{**each, "patience_minutes": 5} for each in old.steps]
    Job.objects.filter(pk=old.pk).update(steps=steps)
    new = hub.plan(nodes=["n2"])

    hub.advance(60)

    run = TestRun.objects.get(job=old)
    assert (run.verdict, run.cause) == ("errored", "test")
    assert "the job's steps were frozen by another release" in run.reason
    assert counters(new) == {(1, "passed"): 1}
    assert Job.objects.get(pk=old.pk).state == "done"
    assert [each.limit for each in columns_of(Job.objects.get(pk=old.pk))] == [None]
