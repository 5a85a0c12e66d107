"""Cancelling is a wish that holds, whatever comes before or after it."""

from __future__ import annotations

from burnin.satellite.messages import (
    CancelOrder,
    OfAttempt,
    SubmitAnswered,
)
from burnin.slurm.cluster import Answer, Submission, SubmitAnswer
from burnin.tests.satellite.bench import Bench, answers, lasting, states
from burnin.tests.slurm.jobs import new_token, submission


def of_attempt(job: Submission) -> OfAttempt:
    return OfAttempt(run_id=job.token.run_id, attempt=job.token.attempt)


def cancel(*jobs: Submission) -> CancelOrder:
    return CancelOrder(attempts=tuple(map(of_attempt, jobs)), reason="by ann")


def test_a_job_in_doubt_that_is_cancelled_is_not_submitted_again() -> None:
    bench = Bench(lasting(600))
    job = submission(new_token())
    bench.cluster.answers = [SubmitAnswer(Answer.UNKNOWN, words="Socket timed out")]
    bench.submit(job)
    bench.told()

    bench.orders.cancel(cancel(job))
    told = [*bench.look(1), *bench.look(20), *bench.look(20)]

    assert answers(told) == ["given_up"]
    assert bench.cluster.observe().snapshots == {}


def test_a_cancelled_job_is_ended_at_the_next_look() -> None:
    bench = Bench(lasting(600))
    job = submission(new_token())
    bench.submit(job)
    bench.look()

    bench.orders.cancel(cancel(job))
    bench.look()

    assert bench.looks_wanted == 2
    assert states(bench.look()) == ["CANCELLED"]


def test_an_order_that_comes_after_its_cancelling_is_not_carried_out() -> None:
    bench = Bench()
    wanted, unwanted = submission(new_token()), submission(new_token())
    bench.orders.cancel(cancel(unwanted))

    bench.submit(wanted, unwanted)

    told = {f.run_id: f for f in bench.told() if isinstance(f, SubmitAnswered)}
    assert told[wanted.token.run_id].answer == "accepted"
    assert told[unwanted.token.run_id].answer == "given_up"
    assert told[unwanted.token.run_id].words.endswith("by ann")


def test_a_cancelled_attempt_that_slurm_never_had_is_given_up() -> None:
    bench = Bench()
    job = submission(new_token())

    bench.orders.cancel(cancel(job))

    assert answers(bench.look()) == ["given_up"]
    assert answers(bench.look()) == []


def test_a_job_that_slurm_takes_after_its_cancelling_is_ended_when_it_is_seen() -> None:
    bench = Bench(lasting(600))
    job = submission(new_token())
    bench.orders.cancel(cancel(job))
    bench.look()

    bench.cluster.take_in_doubt(job)
    bench.look()

    assert states(bench.look()) == ["CANCELLED"]
