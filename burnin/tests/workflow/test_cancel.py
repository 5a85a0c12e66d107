"""What an operator no longer wants ends, and it is kept who said so and why."""

import pytest

from burnin.models import Job, TestRun
from burnin.models.audit import Actor
from burnin.models.job import JobState, JobVerdict
from burnin.satellite.messages import CancelOrder
from burnin.slurm.cluster import Submission
from burnin.states import RunState, Verdict
from burnin.tests.models.world import counters, recount
from burnin.tests.workflow.simulated import Hub, make_hub
from burnin.tests.workflow.workloads import hello
from burnin.workflow.cancel import CancelRefused, cancel_job, cancel_runs
from burnin.workflow.plan import StepRequest
from fleet.models import Site
from runner.contract.slugs import Slugs

pytestmark = pytest.mark.django_db

HELLO = StepRequest(Slugs.HELLO_WORLD, timeout_minutes=30)
WORDS = "cancelled by alice: wrong nodes"


def cancel(hub: Hub, job: Job) -> None:
    cancel_job(job, by=Actor("alice"), reason="wrong nodes", queue=hub.queue, now=hub.now)


def slow_hub(*names: str) -> Hub:
    hub = make_hub(*names)
    hub.site.workload = lambda order: hello(order, duration_s=1500)
    Site.objects.update(queue_ahead=1)
    return hub


def test_planned_runs_are_skipped_at_once_and_running_ones_when_slurm_has_ended_them() -> None:
    hub = slow_hub("n1")
    job = hub.plan(HELLO, HELLO)
    hub.advance(30)

    cancel(hub, job)

    assert (job.state, job.cancel_reason) == (JobState.CANCELLING, WORDS)
    assert counters(job) == {(1, "skipped"): 1, (1, "running"): 1}
    hub.advance(60)
    job.refresh_from_db()
    assert (job.state, job.verdict) == (JobState.DONE, JobVerdict.INCOMPLETE)
    assert counters(job) == recount(job) == {(1, "skipped"): 2}
    assert set(TestRun.objects.values_list("reason", flat=True)) == {WORDS}


def test_a_job_of_which_nothing_was_sent_is_done_at_once() -> None:
    hub = slow_hub("n1")
    job = hub.plan(HELLO)

    cancel(hub, job)

    assert job.state == JobState.DONE


def test_a_lost_cancellation_is_sent_again() -> None:
    hub = slow_hub("n1")
    job = hub.plan(HELLO)
    hub.advance(30)
    hub.queue.is_reachable = False
    cancel(hub, job)
    hub.queue.is_reachable = True

    hub.advance(120)

    assert counters(job) == {(1, "skipped"): 1}
    assert hub.queue.count(CancelOrder) >= 1


def test_what_was_never_submitted_is_skipped_once_its_order_is_dead() -> None:
    hub = slow_hub("n1")
    job = hub.plan(HELLO)
    hub.work()
    hub.queue.take("east")

    cancel(hub, job)
    hub.advance(90)
    waits = counters(job)
    hub.advance(180)

    assert waits == {(1, "dispatched"): 1}
    assert counters(job) == {(1, "skipped"): 1}
    assert not hub.site.workloads_asked


def test_a_job_that_shows_up_after_its_run_was_skipped_is_ended() -> None:
    hub = slow_hub("n1")
    job = hub.plan(HELLO)
    hub.work()
    (order,) = hub.queue.take("east")
    cancel(hub, job)
    hub.advance(300)
    assert counters(job) == {(1, "skipped"): 1}

    hub.site._obey(order)
    hub.advance(120)

    assert [each.state for each in hub.site.cluster._jobs] == ["CANCELLED"]
    assert counters(job) == {(1, "skipped"): 1}


def test_a_cancel_twice_keeps_the_first_reason() -> None:
    hub = slow_hub("n1")
    job = hub.plan(HELLO)
    hub.advance(30)
    cancel(hub, job)

    cancel_job(job, by=Actor("bob"), reason="me too", queue=hub.queue, now=hub.now)

    assert Job.objects.get().cancel_reason == WORDS


def test_a_job_that_is_done_cannot_be_cancelled() -> None:
    hub = make_hub("n1")
    job = hub.plan()
    hub.advance(60)

    with pytest.raises(CancelRefused, match="done already"):
        cancel(hub, job)


def test_a_cancel_without_a_reason_is_refused() -> None:
    hub = make_hub("n1")
    job = hub.plan()

    with pytest.raises(CancelRefused, match="say why"):
        cancel_job(job, by=Actor("alice"), reason=" ", queue=hub.queue, now=hub.now)
    assert Job.objects.get().state == JobState.ACTIVE


def test_single_runs_are_cancelled_and_the_others_go_on() -> None:
    hub = make_hub("n1", "n2")
    hub.site.workload = lambda order: hello(order, duration_s=30)
    job = hub.plan()
    hub.advance(10)
    unwanted = TestRun.objects.get(members__node__name="n1")

    cancel_runs(
        hub.site_row,
        [unwanted.pk],
        by=Actor("alice"),
        reason="it smells",
        queue=hub.queue,
        now=hub.now,
    )
    hub.advance(90)

    assert counters(job) == {(1, "skipped"): 1, (1, "passed"): 1}
    unwanted.refresh_from_db()
    assert unwanted.reason == "cancelled by alice: it smells"


def test_a_run_ended_behind_our_back_is_skipped_and_says_so() -> None:
    hub = slow_hub("n1")
    hub.plan(HELLO)
    hub.advance(30)

    hub.site.cluster.cancel(["1"])
    hub.advance(30)

    run = TestRun.objects.get()
    assert (run.state, run.verdict) == (RunState.JUDGED, Verdict.SKIPPED)
    assert run.reason == "cancelled with scancel, not by Fleet Manager"


def test_a_submission_that_is_in_doubt_can_be_cancelled() -> None:
    hub = slow_hub("n1")
    job = hub.plan(HELLO)
    hub.work()
    attempt = TestRun.objects.get().attempts.get()
    hub.site.cluster.take_in_doubt(Submission(attempt.token, attempt.script, b"{}"))

    cancel(hub, job)
    hub.advance(300)

    assert counters(job) == {(1, "skipped"): 1}
