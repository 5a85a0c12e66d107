"""The grace: what one observation after another tells of a submission in doubt."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from burnin.slurm import claims
from burnin.slurm.claims import Adopt, AskAgain, Decision, GiveUp, Unresolved, Wait
from burnin.slurm.cluster import ClusterFacts, JobSnapshot, Observation
from burnin.tests.slurm.jobs import new_token

TOKEN = new_token()
ASKED = datetime(2026, 1, 1, tzinfo=UTC)
IN_DOUBT = Unresolved(TOKEN, asked_at=ASKED, answered_at=ASKED + timedelta(seconds=10))


def facts(*, min_job_age_s: int = 300) -> ClusterFacts:
    return ClusterFacts("c", "22.05.8", min_job_age_s, 10, 10_000, 30, 1, True, ())


def job(job_id: str) -> JobSnapshot:
    return JobSnapshot(job_id, "RUNNING", "None", "n1", TOKEN, None, None, "squeue")


def seen(at_s: float, *job_ids: str) -> Observation:
    jobs = [job(job_id) for job_id in job_ids]
    return Observation(ASKED + timedelta(seconds=at_s), {TOKEN: jobs} if jobs else {})


def after(*observations: Observation, min_job_age_s: int = 300) -> Decision:
    decision: Decision = Wait(IN_DOUBT)
    for observation in observations:
        assert isinstance(decision, Wait)
        decision = claims.decide(
            decision.unresolved, observation, facts(min_job_age_s=min_job_age_s)
        )
    return decision


def test_one_absence_is_not_enough() -> None:
    assert isinstance(after(seen(11)), Wait)


def test_two_absences_within_the_message_timeout_are_not_enough() -> None:
    assert isinstance(after(seen(11), seen(21)), Wait)


def test_two_absences_further_apart_than_the_message_timeout_allow_another_try() -> None:
    assert after(seen(11), seen(21.1)) == AskAgain(TOKEN)


def test_an_absence_before_the_doubt_was_known_does_not_count() -> None:
    assert isinstance(after(seen(5), seen(10), seen(16)), Wait)


def test_a_job_that_shows_up_is_adopted_at_any_time() -> None:
    assert after(seen(5, "7")) == Adopt("7", ())
    assert after(seen(11), seen(500, "7")) == Adopt("7", ())


def test_the_oldest_job_is_adopted_and_the_others_are_surplus() -> None:
    assert after(seen(11, "101", "99", "100")) == Adopt("99", ("100", "101"))


def test_after_min_job_age_absence_proves_nothing() -> None:
    decision = after(seen(11), seen(300))

    assert isinstance(decision, GiveUp)
    assert TOKEN.job_name in decision.sentence


def test_a_cluster_that_forgets_nothing_can_always_prove_absence() -> None:
    assert after(seen(5000), seen(5011), min_job_age_s=0) == AskAgain(TOKEN)
