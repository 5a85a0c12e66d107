"""What one look at the queue means, given what was told before."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from burnin.satellite.messages import JobGone
from burnin.satellite.tracker import Tracker
from burnin.slurm.cluster import JobSnapshot, Observation
from burnin.tests.slurm.jobs import new_token
from runner.contract.wire import AttemptToken

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
TOKEN = new_token()


def snapshot(state: str, *, job_id: str = "7", source: str = "squeue") -> JobSnapshot:
    return JobSnapshot(job_id, state, "None", "n1", TOKEN, None, None, source)


def look(*jobs: JobSnapshot, at_s: float = 0) -> Observation:
    found: dict[AttemptToken, list[JobSnapshot]] = {TOKEN: list(jobs)} if jobs else {}
    return Observation(NOON + timedelta(seconds=at_s), found)


def missed(tracker: Tracker, found: JobSnapshot | None, *, at_s: float) -> list[object]:
    """Look at an empty queue, and look the job up."""
    missing = tracker.see(look(at_s=at_s)).missing
    answer = {} if found is None else {found.job_id: found}
    at = NOON + timedelta(seconds=at_s)
    return list(tracker.looked_up(missing, answer, at=at))


def test_a_job_is_not_missing_from_a_look_that_was_asked_before_it_was_submitted() -> None:
    tracker = Tracker()
    tracker.adopt(TOKEN, "7", at=NOON + timedelta(seconds=5))

    assert tracker.see(look(at_s=4)).missing == {}
    assert tracker.see(look(at_s=6)).missing == {"7": TOKEN}


def test_a_job_adopted_between_two_looks_that_show_the_same_is_missing_from_the_second() -> None:
    tracker, other = Tracker(), new_token()
    tracker.see(look(snapshot("RUNNING")))
    assert tracker.see(look(snapshot("RUNNING"), at_s=1)).missing == {}
    tracker.adopt(other, "8", at=NOON + timedelta(seconds=2))

    # A look that was asked before says nothing of it, nor of what comes after.
    assert tracker.see(look(snapshot("RUNNING"), at_s=2)).missing == {}
    assert tracker.see(look(snapshot("RUNNING"), at_s=3)).missing == {"8": other}
    assert tracker.see(look(snapshot("RUNNING"), at_s=4)).missing == {"8": other}


def test_a_second_job_is_ended_at_every_look_that_shows_it_alive() -> None:
    tracker = Tracker()
    both = (snapshot("RUNNING"), snapshot("RUNNING", job_id="8"))

    assert [tracker.see(look(*both, at_s=at_s)).surplus for at_s in (0, 1)] == [["8"], ["8"]]


def test_a_job_whose_end_was_told_is_forgotten_when_slurm_forgets_it() -> None:
    tracker = Tracker()

    assert len(tracker.see(look(snapshot("COMPLETED"))).news) == 1
    assert tracker.see(look(at_s=60)).missing == {}
    assert not tracker.knows(TOKEN)


def test_a_job_that_left_the_queue_while_running_is_told_of_as_accounting_knows_it() -> None:
    tracker = Tracker()
    tracker.see(look(snapshot("RUNNING")))

    told = missed(tracker, snapshot("FAILED", source="sacct"), at_s=60)

    assert [(fact.state, fact.source) for fact in told] == [("FAILED", "sacct")]  # type: ignore[attr-defined]
    assert missed(tracker, None, at_s=120) == []


def test_a_preempted_job_is_over_only_when_nobody_but_accounting_remembers_it() -> None:
    tracker = Tracker()
    tracker.see(look(snapshot("PREEMPTED")))

    assert tracker.see(look(at_s=60)).missing == {"7": TOKEN}
    missed(tracker, snapshot("PREEMPTED", source="sacct"), at_s=61)
    assert tracker.see(look(at_s=120)).missing == {}


def test_accounting_that_still_says_running_is_believed_for_ten_minutes_only() -> None:
    tracker = Tracker()
    tracker.see(look(snapshot("RUNNING")))
    stale = snapshot("RUNNING", source="sacct")

    assert [missed(tracker, stale, at_s=at_s) for at_s in (60, 300, 600)] == [[], [], []]
    gone = missed(tracker, stale, at_s=661)

    assert isinstance(gone[0], JobGone)


def test_a_job_that_turns_up_again_has_not_been_missing() -> None:
    tracker = Tracker()
    tracker.see(look(snapshot("RUNNING")))

    assert missed(tracker, None, at_s=10) == []
    assert tracker.see(look(snapshot("RUNNING"), at_s=20)).news == []
    assert missed(tracker, None, at_s=45) == []


def test_of_two_jobs_of_one_token_the_adopted_one_counts() -> None:
    tracker = Tracker()
    tracker.adopt(TOKEN, "8", at=NOON)

    seen = tracker.see(look(snapshot("RUNNING", job_id="7"), snapshot("PENDING", job_id="8")))

    assert [fact.job_id for fact in seen.news] == ["8"]
    assert seen.surplus == ["7"]


def test_of_two_jobs_that_nobody_adopted_the_older_one_counts() -> None:
    seen = Tracker().see(look(snapshot("PENDING", job_id="10"), snapshot("PENDING", job_id="9")))

    assert [fact.job_id for fact in seen.news] == ["9"]
    assert seen.surplus == ["10"]


def test_a_job_of_our_own_is_not_told_of() -> None:
    tracker = Tracker()
    tracker.ignore(TOKEN)

    seen = tracker.see(look(snapshot("RUNNING")))

    assert (seen.news, seen.missing, seen.surplus) == ([], {}, [])
