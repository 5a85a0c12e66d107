"""What a satellite tells of its cluster, and what it does not conclude."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from burnin.satellite.config import PaceConfig
from burnin.satellite.messages import (
    JobGone,
    JobSeen,
    KnownJob,
    NodesSeen,
    RefreshOrder,
    SubmitAnswered,
)
from burnin.slurm.cluster import (
    AccountingUnreachable,
    Answer,
    JobSnapshot,
    Observation,
    SubmitAnswer,
)
from burnin.slurm.fake import FakeCluster
from burnin.tests.satellite.bench import Bench, answers, lasting, states
from burnin.tests.slurm.jobs import new_token, submission
from runner.contract.wire import AttemptToken


def test_a_job_is_told_of_once_for_each_change_and_then_no_more() -> None:
    bench = Bench(lasting(5))
    bench.submit(submission(new_token()))

    assert answers(bench.told()) == ["accepted"]
    assert states(bench.look(1)) == ["RUNNING"]
    assert states(bench.look(1)) == []
    assert states(bench.look(10)) == ["COMPLETED"]
    assert states(bench.look(10)) == []


def test_the_bundle_is_fetched_and_deployed_once_for_many_orders() -> None:
    bench = Bench()

    for _ in range(3):
        bench.submit(submission(new_token()))

    assert bench.source.requests == 1
    assert list(bench.cluster.bundles) == [f"runner-{'a' * 64}.pyz"]


def test_a_query_that_failed_says_nothing_however_long_it_fails() -> None:
    bench = Bench(lasting(60))
    bench.submit(submission(new_token()))
    bench.look()
    bench.cluster.is_unreachable = True

    silence = [fact for _ in range(30) for fact in bench.look(120)]
    bench.cluster.is_unreachable = False
    told = bench.look()

    assert silence == []
    assert states(told) == ["COMPLETED"]
    assert not [fact for fact in told if isinstance(fact, JobGone)]


def test_a_job_that_nobody_knows_is_gone_after_two_looks_half_a_minute_apart() -> None:
    bench = Bench()
    token = new_token()
    bench.tracker.adopt(token, "4711", at=bench.cluster.now)

    assert [fact for fact in bench.look(1) if isinstance(fact, JobGone)] == []
    assert [fact for fact in bench.look(29) if isinstance(fact, JobGone)] == []
    gone = [fact for fact in bench.look(2) if isinstance(fact, JobGone)]

    assert [fact.job_id for fact in gone] == ["4711"]


def test_accounting_that_is_away_holds_up_neither_doubts_nor_nodes_and_is_named() -> None:
    bench = Bench()
    doubtful = submission(new_token())
    bench.cluster.answers = [SubmitAnswer(Answer.UNKNOWN)]
    bench.submit(doubtful)
    bench.tracker.adopt(new_token(), "4711", at=bench.cluster.now)
    bench.cluster.is_accounting_away = True

    told = [fact for _ in range(30) for fact in bench.look(10)]

    reach = bench.observer.reach()
    assert (reach.login_host, reach.slurmctld) == ("", "")
    assert reach.accounting == "the fake slurmdbd is switched off"
    assert not [fact for fact in told if isinstance(fact, JobGone)]
    assert [fact for fact in told if isinstance(fact, NodesSeen)]
    assert "accepted" in answers(told)

    bench.cluster.is_accounting_away = False
    bench.look(10)
    assert bench.observer.reach().accounting == ""


class Remembers(FakeCluster):
    """Its slurmctld still tells of one job; its accounting is away."""

    def look_up(self, jobs: Mapping[str, AttemptToken]) -> dict[str, JobSnapshot]:
        found = {
            job_id: JobSnapshot(job_id, "FAILED", "", "n1", token, "1:0", None, "scontrol")
            for job_id, token in jobs.items()
            if job_id == "4711"
        }
        raise AccountingUnreachable("slurmdbd is away", found)


def test_what_slurmctld_remembers_is_told_while_accounting_is_away() -> None:
    bench = Bench(Remembers())
    for job_id in ("4711", "4712"):
        bench.tracker.adopt(new_token(), job_id, at=bench.cluster.now)

    told = [fact for _ in range(30) for fact in bench.look(10)]

    assert next((fact.job_id, fact.state) for fact in told if isinstance(fact, JobSeen)) == (
        "4711",
        "FAILED",
    )
    assert not [fact for fact in told if isinstance(fact, JobGone)]
    assert bench.observer.reach().accounting == "slurmdbd is away"


def test_accounting_is_named_no_longer_than_somebody_needs_it() -> None:
    bench = Bench(lasting(600))
    token = new_token()
    bench.tracker.adopt(token, "4711", at=bench.cluster.now)
    bench.cluster.is_accounting_away = True
    bench.look(10)
    assert bench.observer.reach().accounting

    bench.cluster.take_in_doubt(submission(token))
    bench.look(10)

    assert bench.observer.reach().accounting == ""


def test_a_defect_of_the_satellite_is_named_in_the_heartbeat_until_it_looks_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = Bench()
    bench.look()
    with monkeypatch.context() as broken:
        broken.setattr(bench.cluster, "observe", lambda: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            bench.look()

        reach = bench.observer.reach()
        assert reach.login_host == ""
        assert reach.slurmctld.startswith("the satellite cannot look: ZeroDivisionError: ")

    bench.look()

    assert bench.observer.reach().slurmctld == ""


def test_the_cluster_that_does_not_answer_is_named_in_the_heartbeat() -> None:
    bench = Bench()
    bench.look()
    assert bench.observer.reach().login_host == ""

    bench.cluster.is_unreachable = True
    bench.look()

    assert "switched off" in bench.observer.reach().login_host


def test_a_job_that_slurm_took_in_doubt_is_adopted() -> None:
    bench = Bench(lasting(600))
    job = submission(new_token())
    job_id = bench.cluster.take_in_doubt(job)
    bench.submit(job)
    assert answers(bench.told()) == ["unknown"]

    told = bench.look()

    assert [(f.answer, f.job_id) for f in told if isinstance(f, SubmitAnswered)] == [
        ("accepted", job_id)
    ]


def test_a_job_that_slurm_did_not_take_is_submitted_again_after_the_grace_and_once() -> None:
    bench = Bench(lasting(600))
    bench.cluster.answers = [SubmitAnswer(Answer.UNKNOWN, words="Socket timed out")]
    bench.submit(submission(new_token()))
    bench.told()

    early = [*bench.look(1), *bench.look(9)]  # MessageTimeout is 10 s
    late = [*bench.look(2), *bench.look(60), *bench.look(60)]

    assert answers(early) == []
    assert answers(late) == ["accepted"]
    assert len(bench.cluster.observe().snapshots) == 1


def test_an_order_that_comes_again_does_not_start_the_grace_anew() -> None:
    bench = Bench(lasting(600))
    job = submission(new_token())
    bench.cluster.answers = [SubmitAnswer(Answer.UNKNOWN, words="Socket timed out")]

    told = []
    for _ in range(6):
        bench.submit(job)
        told += bench.look(5)

    assert "accepted" in answers(told)
    assert len(bench.cluster.observe().snapshots[job.token]) == 1


def test_a_second_job_of_one_token_is_ended_and_not_told_of() -> None:
    bench = Bench(lasting(600))
    job = submission(new_token())
    first, second = bench.cluster.take_in_doubt(job), bench.cluster.take_in_doubt(job)

    told = [fact for fact in bench.look() if isinstance(fact, JobSeen)]

    assert [fact.job_id for fact in told] == [first]
    shown = {each.job_id: each.state for each in bench.cluster.observe().snapshots[job.token]}
    assert shown == {first: "RUNNING", second: "CANCELLED"}


def test_looks_are_close_while_jobs_move_and_rare_when_nothing_does() -> None:
    bench = Bench(lasting(600), PaceConfig(fast_s=2, slow_s=15))
    bench.submit(submission(new_token()))

    bench.cluster.advance(1)
    delays = [bench.observer.step() for _ in range(8)]

    assert delays[:3] == [2, 3, 4.5]
    assert delays[-1] == 15


def test_everything_is_told_again_every_few_minutes() -> None:
    bench = Bench(lasting(6000), PaceConfig(snapshot_s=180))
    bench.submit(submission(new_token()), submission(new_token()))
    bench.look()

    assert states(bench.look(100)) == []
    assert states(bench.look(100)) == ["RUNNING", "RUNNING"]


def test_a_refresh_finds_out_what_became_of_jobs_that_ended_unseen() -> None:
    cluster = lasting(5)
    job = submission(new_token())
    cluster.submit([job])
    cluster.advance(4000)  # far beyond MinJobAge: squeue has forgotten it
    bench = Bench(cluster)
    assert states(bench.look()) == []

    known = KnownJob(run_id=job.token.run_id, attempt=1, job_id="1")
    lost = KnownJob(run_id=new_token().run_id, attempt=1, job_id="99")
    bench.orders.refresh(RefreshOrder(jobs=(known, lost)))
    told = [*bench.look(), *bench.look(40)]

    assert states(told) == ["COMPLETED"]
    assert [fact.job_id for fact in told if isinstance(fact, JobGone)] == ["99"]


def test_nodes_are_told_of_when_they_change() -> None:
    bench = Bench()

    first = [fact for fact in bench.look() if isinstance(fact, NodesSeen)]
    same = [fact for fact in bench.look(61) if isinstance(fact, NodesSeen)]
    bench.cluster.fail_node("n1")
    changed = [fact for fact in bench.look(61) if isinstance(fact, NodesSeen)]

    assert [node.is_usable for node in first[0].nodes] == [True, True]
    assert same == []
    assert [(node.name, node.state, node.is_usable) for node in changed[0].nodes] == [
        ("n1", "DOWN+NOT_RESPONDING", False),
        ("n2", "IDLE", True),
    ]


def test_an_order_that_cannot_reach_the_cluster_is_answered_so_that_it_comes_again() -> None:
    bench = Bench()
    job = submission(new_token())
    bench.cluster.is_unreachable = True

    bench.submit(job)
    bench.cluster.is_unreachable = False
    before = bench.told()
    bench.submit(job)

    assert answers(before) == ["not_asked"]
    assert answers(bench.told()) == ["accepted"]


class HangingCluster(FakeCluster):
    """Takes 20 s to answer, and has `meanwhile` called just before it does."""

    meanwhile: Callable[[], None]

    def observe(self) -> Observation:
        self.advance(20)
        self.meanwhile()
        return super().observe()


def test_a_look_that_hangs_is_told_of_while_it_lasts() -> None:
    cluster = HangingCluster()
    bench, reached = Bench(cluster), []
    cluster.meanwhile = lambda: reached.append(bench.observer.reach())

    bench.look()
    bench.look()

    assert reached[1].login_host == "has not answered for 20 s"
    assert bench.observer.reach().login_host == ""


def test_a_cluster_that_answers_slowly_is_asked_less_often() -> None:
    cluster = HangingCluster()
    cluster.meanwhile = lambda: None

    answered = Bench(cluster).observer.step()
    cluster.is_unreachable = True
    failed = Bench(cluster).observer.step()

    assert answered == 60
    assert failed < 2  # so that its return is noticed at once
