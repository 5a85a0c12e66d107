"""The author's loop on a fake cluster: what it tells, when it gives up, what it asks for once."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import pytest

from burnin.hardware_tests.resource_classes import hardware_of
from burnin.hardware_tests.run_context import RunContext
from burnin.hardware_tests.single_node.hello_world import HelloWorld, HelloWorldParams
from burnin.satellite.config import SiteConfig
from burnin.slurm.cluster import (
    Answer,
    ClusterUnreachable,
    JobSnapshot,
    Observation,
    Submission,
    SubmitAnswer,
)
from burnin.slurm.fake import EPOCH, FakeCluster, Workload
from burnin.states import Cause, Verdict
from burnin.tests.attempts import NODE, TOKEN, write_attempt
from burnin.workflow.author_loop import LOST_AFTER, Loop, Refused, Report, poll_delay, run_once
from burnin.workflow.render import Bundle, Order
from runner.contract.wire import AttemptToken

ORDER = Order(
    test=HelloWorld(),
    params=HelloWorldParams(),
    context=RunContext(token=TOKEN, partition="main", timeout_minutes=5, nodelist=(NODE,)),
    hardware=hardware_of("cpu-generic"),
)
BUNDLE = Bundle("runner-x.pyz", "0" * 64, b"bundle")
SUBMISSION = Submission(TOKEN, "", b"")


class ClusterClock:
    """The cluster's own time: sleeping lets it pass."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    def now(self) -> datetime:
        return self._cluster.now

    def sleep(self, seconds: float) -> None:
        self._cluster.advance(seconds)


class LosesTheAnswer(FakeCluster):
    """Slurm takes the job, and its answer never arrives."""

    def submit(
        self,
        submissions: Sequence[Submission],
        *,
        resubmit: frozenset[AttemptToken] = frozenset(),
    ) -> dict[AttemptToken, SubmitAnswer]:
        assert not resubmit, "it was asked for twice"
        self.take_in_doubt(submissions[0])
        return super().submit(submissions)


class Forgets(FakeCluster):
    """Neither squeue nor accounting remembers a job that has ended."""

    def observe(self) -> Observation:
        return replace(super().observe(), snapshots={})

    def look_up(self, jobs: Mapping[str, AttemptToken]) -> dict[str, JobSnapshot]:
        return {}


class GoesAway(FakeCluster):
    """Answers every other time only, once it has the job."""

    silences = 0

    def _answer_or_raise(self) -> None:
        if self._jobs:
            self.silences += 1
        if self.silences % 2:
            raise ClusterUnreachable("ssh did not answer")


class AwayForLong(Forgets):
    """Knows no job, and is away for longer than a lost job is waited for."""

    away_until = EPOCH

    def submit(
        self,
        submissions: Sequence[Submission],
        *,
        resubmit: frozenset[AttemptToken] = frozenset(),
    ) -> dict[AttemptToken, SubmitAnswer]:
        self.away_until = self.now + LOST_AFTER * 2
        return super().submit(submissions)

    def observe(self) -> Observation:
        if self.now < self.away_until:
            raise ClusterUnreachable("ssh did not answer")
        return super().observe()


class NeverStarts(FakeCluster):
    """Every job asks for more nodes than there are."""

    def _start_jobs(self) -> None:
        for job in self._jobs:
            job.reason = "PartitionNodeLimit"


@dataclass
class Bench:
    """One order followed on a cluster; `told` is what the author would have read."""

    here: Path
    files: Mapping[str, bytes]
    told: list[str]

    def follow(self, cluster: FakeCluster, stop: Callable[[], str] = lambda: "") -> Report:
        if cluster.workload_of(SUBMISSION) == Workload():
            cluster.workload_of = lambda _: Workload(files=self.files)
        loop = Loop(
            site=SiteConfig(name="fake", work_dir="/w"),
            cluster=cluster,
            clock=ClusterClock(cluster),
            tell=self.told.append,
            stop=stop,
        )
        return run_once(loop, ORDER, bundle=BUNDLE, destination=self.here)

    def leave_in_doubt(self) -> str:
        """Want to stop from the moment on that nobody knows whether Slurm took the job."""
        return "Ctrl-C" if any("not known yet" in line for line in self.told) else ""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    left = write_attempt(tmp_path / "node").iterdir()
    return Bench(tmp_path / "here", {path.name: path.read_bytes() for path in left}, [])


@pytest.fixture
def cluster() -> FakeCluster:
    return FakeCluster((NODE,))


def test_a_run_is_followed_to_its_verdict(bench: Bench, cluster: FakeCluster) -> None:
    report = bench.follow(cluster)

    assert report.judgement.verdict is Verdict.PASSED
    assert bench.told[0] == "submitted as Slurm job 1"
    assert report.directory == bench.here / TOKEN.directory
    assert "#SBATCH --comment=" in (report.directory / "script.sh").read_text()


def test_a_refusal_holds_slurms_words(bench: Bench, cluster: FakeCluster) -> None:
    cluster.answers = [SubmitAnswer(Answer.REFUSED, words="Invalid qos specification")]

    with pytest.raises(Refused, match="Slurm refused the job: Invalid qos specification"):
        bench.follow(cluster)


def test_a_full_queue_is_waited_for(bench: Bench, cluster: FakeCluster) -> None:
    cluster.answers = [SubmitAnswer(Answer.BACK_OFF, words="Job violates QOS policy")]

    assert bench.follow(cluster).judgement.verdict is Verdict.PASSED
    assert "Slurm takes no more jobs for now: Job violates QOS policy" in bench.told


def test_a_doubtful_submission_that_slurm_has_is_adopted(bench: Bench) -> None:
    report = bench.follow(LosesTheAnswer((NODE,)))

    assert report.judgement.verdict is Verdict.PASSED
    assert report.snapshot and report.snapshot.job_id == "1"


def test_a_doubtful_submission_that_slurm_never_got_is_asked_for_again_after_the_grace(
    bench: Bench, cluster: FakeCluster
) -> None:
    begun = cluster.now
    cluster.answers = [SubmitAnswer(Answer.UNKNOWN, words="Socket timed out")]

    report = bench.follow(cluster)

    assert report.judgement.verdict is Verdict.PASSED
    assert (cluster.now - begun).total_seconds() > cluster.facts().message_timeout_s


def test_waiting_is_told_with_its_reason_and_ends_when_asked(
    bench: Bench, cluster: FakeCluster
) -> None:
    cluster.fail_node(NODE)
    looks = iter(["", "", "", "cancelled by ann"])

    report = bench.follow(cluster, stop=lambda: next(looks, "cancelled by ann"))

    assert any(
        "PENDING: the job waits in the queue: its nodes are busy" in line for line in bench.told
    )
    assert (report.judgement.verdict, report.judgement.reason) == (
        Verdict.SKIPPED,
        "cancelled by ann",
    )


def test_a_node_that_dies_makes_the_run_inconclusive(bench: Bench, cluster: FakeCluster) -> None:
    cluster.workload_of = lambda _: Workload(duration_s=100)

    def kill_the_node_once_it_runs() -> str:
        if any(line.startswith("RUNNING") for line in bench.told):
            cluster.fail_node(NODE)
        return ""

    report = bench.follow(cluster, stop=kill_the_node_once_it_runs)

    assert (report.judgement.verdict, report.judgement.cause) == (
        Verdict.INCONCLUSIVE,
        Cause.HARDWARE,
    )


def test_a_job_that_can_never_start_is_cancelled(bench: Bench) -> None:
    report = bench.follow(NeverStarts((NODE,)))

    assert (report.judgement.verdict, report.judgement.cause) == (Verdict.ERRORED, Cause.TEST)
    assert "can never start" in report.judgement.reason
    assert report.snapshot and report.snapshot.state == "CANCELLED"


def test_a_job_that_slurm_forgot_is_judged_by_what_it_left_behind(bench: Bench) -> None:
    report = bench.follow(Forgets((NODE,)))

    assert report.snapshot is None
    assert report.judgement.verdict is Verdict.PASSED


def test_a_cluster_that_goes_away_is_asked_until_it_answers(bench: Bench) -> None:
    report = bench.follow(GoesAway((NODE,)))

    assert report.judgement.verdict is Verdict.PASSED
    assert any("does not answer, and is asked again: ssh did not answer" in line
               for line in bench.told)  # fmt: skip


def test_a_job_is_cancelled_although_the_cluster_was_away_when_it_was_asked(bench: Bench) -> None:
    cluster = GoesAway((NODE,))
    cluster.workload_of = lambda _: Workload(duration_s=1000)

    report = bench.follow(cluster, stop=lambda: "Ctrl-C" if cluster.silences else "")

    assert report.snapshot and report.snapshot.state == "CANCELLED"


def test_silence_is_not_counted_as_absence(bench: Bench) -> None:
    cluster = AwayForLong((NODE,))

    bench.follow(cluster)

    assert cluster.now - cluster.away_until > LOST_AFTER


def test_nothing_is_submitted_for_somebody_who_has_left(bench: Bench, cluster: FakeCluster) -> None:
    report = bench.follow(cluster, stop=lambda: "Ctrl-C")

    assert (report.judgement.verdict, report.judgement.reason) == (Verdict.SKIPPED, "Ctrl-C")
    assert report.snapshot is None
    assert not cluster.observe().snapshots


def test_somebody_who_leaves_while_the_submission_is_in_doubt_is_heard_at_once(
    bench: Bench, cluster: FakeCluster
) -> None:
    cluster.answers = [SubmitAnswer(Answer.UNKNOWN, words="Socket timed out")]

    report = bench.follow(cluster, stop=bench.leave_in_doubt)

    assert bench.told[1:] == [
        "cancelling: Ctrl-C: as soon as it is known whether Slurm took the job"
    ]
    assert report.judgement.verdict is Verdict.SKIPPED
    assert not cluster.observe().snapshots


def test_a_job_in_doubt_is_ended_when_it_is_found_after_somebody_has_left(bench: Bench) -> None:
    cluster = LosesTheAnswer((NODE,))
    cluster.workload_of = lambda _: Workload(duration_s=1000)

    report = bench.follow(cluster, stop=bench.leave_in_doubt)

    assert report.judgement.verdict is Verdict.SKIPPED
    assert report.snapshot and report.snapshot.state == "CANCELLED"
    assert not any(line.startswith("RUNNING") for line in bench.told)


def test_looks_stay_rare_after_a_day() -> None:
    assert poll_delay(90_000) == 15
