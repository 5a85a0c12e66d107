"""A run that infrastructure failed gets another attempt, if the first one is certainly over."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from burnin.models import Attempt, Job, TestRun, TestRunEvent
from burnin.models.audit import Actor
from burnin.models.job import JobVerdict
from burnin.satellite.messages import JobOrder, SubmitAnswered
from burnin.slurm.cluster import Answer, SubmitAnswer
from burnin.slurm.fake import EPOCH, Workload
from burnin.states import Cause, RunState, Verdict
from burnin.tests.models.world import counters, recount
from burnin.tests.workflow.facts import about, dispatched, post
from burnin.tests.workflow.simulated import ONCE, Hub, make_hub
from burnin.tests.workflow.workloads import failing, hello
from burnin.workflow.cancel import cancel_job
from burnin.workflow.ending import LOST_STATE
from burnin.workflow.judge import Judgement
from burnin.workflow.retry import came_to_nothing
from burnin.workflow.verdicts import Conclusion, write_conclusions

pytestmark = pytest.mark.django_db

INFRASTRUCTURE = Judgement(Verdict.ERRORED, Cause.INFRASTRUCTURE, "the store lost it")


def torn(order: JobOrder) -> Workload:
    """A workload whose artifacts are of another attempt."""
    return hello(order, attempt=9)


def torn_at_first(order: JobOrder) -> Workload:
    return torn(order) if order.attempt == 1 else hello(order)


def history(run: TestRun) -> list[str]:
    events = TestRunEvent.objects.filter(run=run).order_by("at", "id")
    return list(events.values_list("after", flat=True))


def notes(run: TestRun) -> list[str]:
    events = TestRunEvent.objects.filter(run=run).exclude(note="").order_by("at", "id")
    return list(events.values_list("note", flat=True))


def finished(hub: Hub) -> tuple[TestRun, Attempt]:
    """Bring the hub's one run to its end, and do not collect it."""
    hub.work()
    hub.is_on = False
    hub.advance(30)
    run = TestRun.objects.get()
    assert run.state == RunState.FINISHED
    return run, run.attempts.get()


def conclusion(run: TestRun, attempt: Attempt, judgement: Judgement = INFRASTRUCTURE) -> Conclusion:
    return Conclusion(run, attempt, judgement, metadata=None, kept=(), thresholds_id=None)


def test_what_infrastructure_failed_is_attempted_again_and_judged_once() -> None:
    hub = make_hub("n1")
    hub.site.workload = torn_at_first
    job = hub.plan()

    hub.advance(120, tick_s=5)

    run = TestRun.objects.get()
    first, second = run.attempts.order_by("number")
    assert (run.verdict, run.attempt_number) == (Verdict.PASSED, 2)
    assert run.result.attempt == second
    assert first.artifacts.count() == 5
    assert first.slurm_job_id != second.slurm_job_id
    way = ["dispatched", "submitted", "running", "finished"]
    assert history(run) == ["planned", *way, "planned", *way, "judged"]
    assert (
        f"attempt 1 came to nothing, and another one follows: the artifacts are of {run.pk}:9"
        in (" ".join(notes(run)))
    )
    assert "attempt 2" in notes(run)
    assert set(hub.site.workloads_asked.values()) == {1}
    assert counters(job) == recount(job) == {(1, "passed"): 1}
    assert Job.objects.get().verdict == JobVerdict.PASSED


def test_a_second_attempt_that_comes_to_nothing_is_the_last() -> None:
    hub = make_hub("n1")
    hub.site.workload = torn
    job = hub.plan()

    hub.advance(300)

    run = TestRun.objects.get()
    assert (run.verdict, run.cause) == (Verdict.ERRORED, Cause.INFRASTRUCTURE)
    assert run.reason.startswith(f"the artifacts are of {run.pk}:9, not of {run.pk}:2")
    assert run.attempts.count() == 2
    assert history(run).count("judged") == 1
    assert counters(job) == recount(job) == {(1, "errored"): 1}


def test_a_step_may_allow_one_attempt_only() -> None:
    hub = make_hub("n1")
    hub.site.workload = torn_at_first
    hub.plan(ONCE)

    hub.advance(120)

    assert TestRun.objects.get().verdict == Verdict.ERRORED
    assert Attempt.objects.count() == 1


def test_a_measured_fault_is_not_attempted_again() -> None:
    hub = make_hub("n1")
    hub.site.workload = failing
    hub.plan()

    hub.advance(120)

    assert TestRun.objects.get().verdict == Verdict.FAILED
    assert Attempt.objects.count() == 1


def test_a_tool_that_is_missing_is_not_attempted_again() -> None:
    hub = make_hub("n1")
    hub.site.workload = lambda order: hello(order, outcome="cannot_run", reason="no such tool")
    hub.plan()

    hub.advance(120)

    assert TestRun.objects.get().cause == Cause.TEST
    assert Attempt.objects.count() == 1


def test_what_slurm_refused_is_asked_for_once_more() -> None:
    hub = make_hub("n1")
    hub.site.cluster.answers = [SubmitAnswer(Answer.REFUSED, words="no such account")]
    job = hub.plan()

    hub.advance(120)

    run = TestRun.objects.get()
    assert (run.verdict, run.attempt_number) == (Verdict.PASSED, 2)
    assert history(run)[:3] == ["planned", "dispatched", "planned"]
    assert counters(job) == recount(job) == {(1, "passed"): 1}


def test_what_slurm_refuses_again_is_errored_in_its_words() -> None:
    hub = make_hub("n1")
    hub.site.cluster.answers = [SubmitAnswer(Answer.REFUSED, words="no such account")] * 3
    hub.plan()

    hub.advance(120)

    assert TestRun.objects.get().reason == "Slurm refused the job: no such account"
    assert Attempt.objects.count() == 2


def test_what_waits_for_another_attempt_says_why() -> None:
    hub = make_hub("n1")
    hub.plan()
    run, attempt = finished(hub)

    write_conclusions(hub.site_row, [conclusion(run, attempt)], hub.now)

    run.refresh_from_db()
    assert run.state == RunState.PLANNED
    assert run.waits_because == (
        "attempt 1 came to nothing, and another one follows: the store lost it"
    )


def attempt_of(**changes: Any) -> Attempt:
    known = {"slurm_state": "COMPLETED", "exit_code": "0:0", "ended_at": EPOCH}
    return Attempt(number=1, slurm_job_id="7", **{**known, **changes})


@pytest.mark.parametrize(
    ("changes", "is_over"),
    [
        ({}, True),
        ({"slurm_state": "PREEMPTED"}, True),
        ({"slurm_state": "FAILED", "exit_code": "82:0"}, True),
        ({"ended_at": None}, False),
        ({"slurm_state": LOST_STATE}, False),
        ({"slurm_state": "FAILED", "exit_code": "78:0"}, False),
        ({"slurm_state": "DEADLINE"}, False),
    ],
)
def test_only_an_attempt_that_is_certainly_over_makes_room(
    changes: dict[str, Any], is_over: bool
) -> None:
    errored = (Verdict.ERRORED, Cause.INFRASTRUCTURE)

    assert came_to_nothing(attempt_of(**changes), *errored) is is_over


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("cause", Cause)
def test_nothing_but_an_error_of_infrastructure_is_repeated(verdict: Verdict, cause: Cause) -> None:
    expected = (verdict, cause) == (Verdict.ERRORED, Cause.INFRASTRUCTURE)

    assert came_to_nothing(attempt_of(), verdict, cause) is expected


def test_what_was_cancelled_while_it_was_judged_is_not_repeated() -> None:
    hub = make_hub("n1")
    job = hub.plan()
    run, attempt = finished(hub)
    cancel_job(job, by=Actor("ann"), reason="enough", queue=hub.queue, now=hub.now)

    write_conclusions(hub.site_row, [conclusion(run, attempt)], hub.now)

    run.refresh_from_db()
    assert run.state == RunState.JUDGED
    assert Attempt.objects.count() == 1


def test_a_late_word_on_the_first_attempt_does_not_judge_the_second() -> None:
    hub = make_hub("n1")
    hub.plan()
    run, attempt = finished(hub)
    write_conclusions(hub.site_row, [conclusion(run, attempt)], hub.now)
    hub.work()
    hub.advance(30)
    assert TestRun.objects.get().state == RunState.FINISHED

    passed = Judgement(Verdict.PASSED, Cause.NONE, "all good")
    late = [conclusion(run, attempt), conclusion(run, attempt, passed)]

    assert write_conclusions(hub.site_row, late, hub.now) == 0
    assert TestRun.objects.get().state == RunState.FINISHED


def test_a_cancelled_run_that_slurm_refuses_is_skipped_and_not_repeated() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()
    cancel_job(run.job, by=Actor("ann"), reason="enough", queue=hub.queue, now=hub.now)

    post(hub, SubmitAnswered(**about(run, answer="refused", words="?")))

    run.refresh_from_db()
    assert (run.state, run.verdict) == (RunState.JUDGED, Verdict.SKIPPED)


def test_a_run_whose_node_dies_before_its_second_attempt_is_listed_as_skipped() -> None:
    hub = make_hub("n1")
    hub.plan()
    run, attempt = finished(hub)
    write_conclusions(hub.site_row, [conclusion(run, attempt)], hub.now)
    hub.site.cluster.fail_node("n1")
    hub.is_on = True

    hub.advance(timedelta(minutes=20).total_seconds(), tick_s=30)

    run.refresh_from_db()
    assert (run.state, run.verdict) == (RunState.JUDGED, Verdict.SKIPPED)
