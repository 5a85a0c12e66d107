"""While a run is at its second attempt, nothing that is said of the first one moves it."""

from __future__ import annotations

import pytest

from burnin.models import Attempt, TestRun
from burnin.models.audit import Actor
from burnin.satellite.messages import CancelOrder, SubmitAnswered
from burnin.states import RunState
from burnin.tests.workflow.facts import about, accepted, dispatched, post, seen
from burnin.tests.workflow.simulated import Hub
from burnin.workflow.cancel import cancel_job

pytestmark = pytest.mark.django_db


def at_its_second_attempt(answer: str = "refused") -> tuple[Hub, TestRun]:
    """A hub whose run was refused once, and is asked for again."""
    hub = dispatched("n1")
    run = TestRun.objects.get()
    post(hub, SubmitAnswered(**about(run, answer=answer, words="?")))
    hub.work()
    run.refresh_from_db()
    assert (run.state, run.attempt_number) == (RunState.DISPATCHED, 2)
    return hub, run


@pytest.mark.parametrize("answer", ["refused", "unknown", "back_off", "given_up", "not_asked"])
def test_old_answers_about_the_first_attempt_say_nothing_of_the_second(answer: str) -> None:
    hub, run = at_its_second_attempt()

    replay = post(hub, SubmitAnswered(**about(run, answer=answer, words="old")))

    run.refresh_from_db()
    assert replay.acknowledged == ("0",)
    assert (run.state, run.waits_because, run.carried_until) == (RunState.DISPATCHED, "", None)
    assert run.attempts.get(number=1).submission == Attempt.Submission.REFUSED


def test_a_job_of_the_first_attempt_that_shows_up_late_moves_nothing() -> None:
    hub, run = at_its_second_attempt()

    post(hub, accepted(run), seen(run, "RUNNING"))

    run.refresh_from_db()
    assert (run.state, run.waits_because) == (RunState.DISPATCHED, "")


def test_a_job_that_no_run_needs_any_more_is_ended() -> None:
    hub, run = at_its_second_attempt()
    run.attempts.filter(number=1).update(
        slurm_job_id="7", submission=Attempt.Submission.ACCEPTED, ended_at=None
    )

    hub.reconcile()

    (order,) = [each for _, _, each in hub.queue.sent if isinstance(each, CancelOrder)]
    assert [each.token.attempt for each in order.attempts] == [1]


def test_cancelling_ends_the_newest_attempt() -> None:
    hub, run = at_its_second_attempt()

    cancel_job(run.job, by=Actor("ann"), reason="enough", queue=hub.queue, now=hub.now)

    (order,) = [each for _, _, each in hub.queue.sent if isinstance(each, CancelOrder)]
    assert [each.token.attempt for each in order.attempts] == [2]
