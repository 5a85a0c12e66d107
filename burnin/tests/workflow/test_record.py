"""Facts of runs: what is new is applied, what is known acknowledged, what is wrong refused."""

import uuid

import pytest

from burnin.models import Attempt, TestResult, TestRun, TestRunEvent, Trouble
from burnin.satellite.messages import (
    CancelOrder,
    Envelope,
    FactAnswer,
    FactBatch,
    JobGone,
    Refusal,
    SubmitAnswered,
)
from burnin.states import RunState
from burnin.tests.models.world import counters, recount
from burnin.tests.workflow.facts import Rings, about, accepted, dispatched, post, seen
from burnin.tests.workflow.simulated import ONCE, make_hub
from burnin.workflow.bells import Bell
from burnin.workflow.record import record_facts

pytestmark = pytest.mark.django_db


def test_an_accepted_job_is_adopted() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()

    answer = post(hub, accepted(run))

    run.refresh_from_db()
    attempt = run.attempts.get()
    assert answer == FactAnswer(acknowledged=("0",))
    assert (run.state, attempt.slurm_job_id) == (RunState.SUBMITTED, "7")
    assert attempt.submission == Attempt.Submission.ACCEPTED


def test_a_job_is_adopted_from_the_first_sight_of_it_too() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()

    post(hub, seen(run, "RUNNING"))

    run.refresh_from_db()
    assert run.state == RunState.RUNNING
    moves = list(run.events.order_by("id").values_list("before", "after"))
    assert moves[-2:] == [("dispatched", "submitted"), ("submitted", "running")]


def test_one_batch_may_tell_a_whole_life() -> None:
    hub = dispatched("n1", "n2")
    runs = list(TestRun.objects.all())
    facts = [
        fact
        for number, run in enumerate(runs)
        for fact in (
            accepted(run, str(number)),
            seen(run, "RUNNING", str(number)),
            seen(run, "COMPLETED", str(number)),
        )
    ]

    post(hub, *facts)

    job = runs[0].job
    assert counters(job) == recount(job) == {(1, "finished"): 2}


def test_a_replay_is_acknowledged_and_changes_nothing() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()
    facts = accepted(run), seen(run, "RUNNING"), seen(run, "COMPLETED")
    post(hub, *facts)
    before = TestRunEvent.objects.count(), counters(run.job)

    answer = post(hub, *facts)

    assert answer.acknowledged == ("0", "1", "2")
    assert (TestRunEvent.objects.count(), counters(run.job)) == before


def test_what_comes_late_takes_nothing_back() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()
    post(hub, seen(run, "COMPLETED", exit_code="0:0"))

    answer = post(hub, seen(run, "RUNNING"), accepted(run), seen(run, "PENDING"))

    run.refresh_from_db()
    assert not answer.refused
    assert run.state == RunState.FINISHED
    assert run.attempts.get().slurm_state == "COMPLETED"


def test_a_fact_about_another_sites_run_is_refused() -> None:
    hub = dispatched("n1")
    west = make_hub("w1", name="west")
    run = TestRun.objects.get()

    answer = post(hub, accepted(run), site=west.site_row)

    words = f"this site has no run {run.pk} with an attempt 1"
    assert answer == FactAnswer(refused=(Refusal(id="0", words=words),))
    run.refresh_from_db()
    assert run.state == RunState.DISPATCHED


def test_a_fact_about_a_wrong_attempt_is_refused() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()

    answer = post(hub, SubmitAnswered(**{**about(run), "attempt": 2}, answer="refused"))

    assert "with an attempt 2" in answer.refused[0].words


def test_a_fact_about_a_run_that_never_was_is_refused() -> None:
    hub = dispatched("n1")
    unknown = TestRun(pk=uuid.uuid4())

    assert post(hub, accepted(unknown)).refused


def test_another_job_id_for_one_attempt_is_refused() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()
    post(hub, accepted(run, "7"))

    answer = post(hub, seen(run, "RUNNING", "9"))

    assert answer.refused[0].words == f"attempt {run.pk}:1 is Slurm job 7, not 9"


def test_one_bad_fact_does_not_spoil_the_others() -> None:
    hub = dispatched("n1", "n2")
    first, second = TestRun.objects.all()
    bad = SubmitAnswered(**about(first, answer="accepted", job_id=None))

    answer = post(hub, bad, accepted(second))

    assert answer.acknowledged == ("1",)
    assert answer.refused[0].words.endswith("was accepted, but without a job id")


def test_a_job_that_runs_cannot_have_been_refused() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()
    post(hub, seen(run, "RUNNING"))

    answer = post(hub, SubmitAnswered(**about(run, answer="refused", words="no")))

    assert "it cannot have been refused" in answer.refused[0].words
    assert TestRun.objects.get().state == RunState.RUNNING


def test_what_the_site_gives_up_is_errored() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()

    post(hub, SubmitAnswered(**about(run, answer="given_up", words="it is not known whether")))

    run.refresh_from_db()
    assert (run.verdict, run.cause) == ("errored", "infrastructure")
    assert run.reason == "it is not known whether"


@pytest.mark.parametrize("answer", ["given_up", "refused"])
def test_a_job_that_shows_up_after_it_was_given_up_is_cancelled(answer: str) -> None:
    hub = make_hub("n1")
    hub.plan(ONCE)
    hub.work()
    run = TestRun.objects.get()
    post(hub, SubmitAnswered(**about(run, answer=answer, words="it is not known whether")))

    post(hub, seen(run, "RUNNING", "7"))
    hub.reconcile()

    attempt = Attempt.objects.get()
    assert (attempt.slurm_job_id, attempt.slurm_state) == ("7", "RUNNING")
    assert TestRun.objects.get().verdict == "errored"
    (order,) = [each for each in hub.queue.take("east") if isinstance(each, CancelOrder)]
    assert [each.run_id for each in order.attempts] == [str(run.pk)]

    post(hub, seen(run, "CANCELLED", "7"))
    assert Attempt.objects.get().ended_at is not None


def test_what_never_ran_is_trouble_that_everybody_sees() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()
    TestRun.objects.update(waits_because="it is not known yet whether Slurm took the job")

    post(hub, SubmitAnswered(**about(run, answer="given_up", words="it is not known whether")))

    run.refresh_from_db()
    trouble, result = Trouble.objects.get(), TestResult.objects.get()
    assert run.waits_because == ""
    assert (trouble.run, trouble.cause, trouble.reason) == (run, "infrastructure", run.reason)
    assert result.attempt == run.attempts.get()


def test_a_doubt_that_is_settled_in_the_same_batch_holds_up_nothing() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()
    doubt = SubmitAnswered(**about(run, answer="unknown", words="Socket timed out"))

    post(hub, doubt, seen(run, "COMPLETED"))

    run.refresh_from_db()
    assert (run.state, run.carried_until, run.waits_because) == (RunState.FINISHED, None, "")


def test_a_lost_job_is_finished_so_that_its_artifacts_decide() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()
    post(hub, accepted(run))

    post(hub, JobGone(**about(run, job_id="7")))

    run.refresh_from_db()
    assert run.state == RunState.FINISHED


def test_a_pending_job_says_why_it_waits() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()

    post(hub, seen(run, "PENDING", reason="Resources"))

    run.refresh_from_db()
    assert run.waits_because == "the job waits in the queue: its nodes are busy"


def test_what_a_node_or_slurm_wrote_is_kept_as_a_database_can_hold_it() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()

    answer = post(hub, seen(run, "PENDING", reason="x\0" + "y" * 3000, node_list="n" * 4000))

    assert not answer.refused
    assert len(run.attempts.get().slurm_reason) == 1000


def test_finished_runs_ring_for_their_collector() -> None:
    hub = dispatched("n1")
    run = TestRun.objects.get()
    rings = Rings()
    batch = FactBatch(facts=(Envelope(id="1", fact=seen(run, "COMPLETED")),))

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("django.db.transaction.on_commit", lambda call: call())
        record_facts(hub.site_row, batch, now=hub.now, bells=rings)

    assert rings.rung == [(Bell.COLLECT, hub.site_row.pk)]
