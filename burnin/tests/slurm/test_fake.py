"""What only a fake cluster can be made to do."""

from __future__ import annotations

import pytest

from burnin.slurm.cluster import Answer, ClusterUnreachable, SubmitAnswer
from burnin.slurm.fake import FakeCluster, Workload
from burnin.tests.slurm.jobs import new_token, submission


def states(cluster: FakeCluster) -> list[str]:
    jobs = cluster.observe().snapshots.values()
    return [job.state for found in jobs for job in found]


def test_a_node_runs_one_job_at_a_time() -> None:
    cluster = FakeCluster(["n1"])
    cluster.workload_of = lambda _: Workload(duration_s=10)
    cluster.submit([submission(new_token()) for _ in range(2)])

    cluster.advance(1)
    early = states(cluster)
    cluster.advance(10)

    assert (early, states(cluster)) == (["RUNNING", "PENDING"], ["COMPLETED", "RUNNING"])


def test_a_job_waits_for_the_nodes_it_names() -> None:
    cluster = FakeCluster(["n1", "n2"])
    job = submission(new_token(), "true", "--nodelist=n2")
    cluster.submit([job])

    cluster.advance(0)

    assert cluster.observe().snapshots[job.token][0].node_list == "n2"


def test_a_job_over_its_limit_times_out() -> None:
    cluster = FakeCluster()
    cluster.workload_of = lambda _: Workload(duration_s=1000)
    cluster.submit([submission(new_token(), "true", "--time=1")])

    cluster.advance(61)

    assert states(cluster) == ["TIMEOUT"]


def test_a_node_that_fails_takes_its_job_with_it() -> None:
    cluster = FakeCluster(["n1"])
    cluster.workload_of = lambda _: Workload(duration_s=10)
    cluster.submit([submission(new_token()) for _ in range(2)])
    cluster.advance(1)

    cluster.fail_node("n1")
    cluster.advance(100)

    assert states(cluster) == ["NODE_FAIL", "PENDING"]


def test_an_ended_job_vanishes_after_min_job_age_and_accounting_still_has_it() -> None:
    cluster = FakeCluster(min_job_age_s=300)
    job = submission(new_token())
    job_id = cluster.submit([job])[job.token].job_id

    cluster.advance(302)

    assert states(cluster) == []
    assert cluster.look_up({job_id: job.token})[job_id].state == "COMPLETED"


def test_a_cluster_that_is_switched_off_tells_nothing() -> None:
    cluster = FakeCluster()
    cluster.is_unreachable = True

    with pytest.raises(ClusterUnreachable):
        cluster.observe()


def test_an_answer_in_doubt_ends_the_batch_and_stays_until_renewed() -> None:
    cluster = FakeCluster()
    first, second = submission(new_token()), submission(new_token())
    cluster.answers = [SubmitAnswer(Answer.UNKNOWN, words="Socket timed out")]

    answers = cluster.submit([first, second])
    again = cluster.submit([first])
    renewed = cluster.submit([first], resubmit=frozenset({first.token}))

    assert answers[second.token].kind is Answer.NOT_ASKED
    assert again[first.token].kind is Answer.UNKNOWN
    assert renewed[first.token].kind is Answer.ACCEPTED


def test_a_job_taken_in_doubt_is_observed() -> None:
    cluster = FakeCluster()
    job = submission(new_token())

    job_id = cluster.take_in_doubt(job)

    assert cluster.submit([job])[job.token].kind is Answer.UNKNOWN
    assert cluster.observe().snapshots[job.token][0].job_id == job_id


def test_a_partition_that_is_down_holds_its_jobs() -> None:
    cluster = FakeCluster(partition_state="DOWN")
    job = submission(new_token())
    cluster.submit([job])

    cluster.advance(10)

    assert cluster.observe().snapshots[job.token][0].reason == "PartitionDown"
