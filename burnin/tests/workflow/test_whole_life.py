"""A job's whole life on a simulated site: what runs, what is left out, what it adds up to."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from burnin.models import Artifact, Attempt, Job, JobNode, LatestResult, TestResult, TestRun
from burnin.models.job import JobState, JobVerdict
from burnin.satellite.messages import JobOrder, SubmitOrder
from burnin.slurm.cluster import Answer, SubmitAnswer
from burnin.slurm.fake import Workload
from burnin.states import Cause, RunState, Verdict
from burnin.storage.store import incoming_key
from burnin.tests.models.world import counters, recount
from burnin.tests.workflow.simulated import ONCE, make_hub
from burnin.tests.workflow.workloads import failing, hello
from burnin.workflow.plan import StepRequest
from fleet.models import Node
from runner.contract import artifacts as contract
from runner.contract.slugs import Slugs

pytestmark = pytest.mark.django_db

FIRST = StepRequest(Slugs.HELLO_WORLD, timeout_minutes=5)
SECOND = replace(FIRST, stage=2)


Kind = Callable[[JobOrder], Workload]


def on(*names: str, there: Kind = failing, otherwise: Kind = hello) -> Kind:
    """Do `there` on these nodes and `otherwise` on all others."""

    def workload(order: JobOrder) -> Workload:
        is_there = any(f'"{name}"' in order.context for name in names)
        return (there if is_there else otherwise)(order)

    return workload


def test_a_job_on_two_nodes_passes() -> None:
    hub = make_hub("n1", "n2")
    job = hub.plan()

    hub.advance(60)

    job.refresh_from_db()
    assert (job.state, job.verdict) == (JobState.DONE, JobVerdict.PASSED)
    assert counters(job) == recount(job) == {(1, "passed"): 2}
    assert TestResult.objects.filter(verdict="passed").count() == 2
    assert LatestResult.objects.filter(verdict="passed").count() == 2
    assert Artifact.objects.count() == 10
    assert not hub.site.refusals


def test_what_was_judged_stands_where_no_node_can_write() -> None:
    hub = make_hub("n1")
    hub.plan()
    hub.advance(60)
    token = Attempt.objects.get().token
    kept = Artifact.objects.get(name=contract.STDOUT)
    judged = hub.store.objects[kept.key]

    hub.store.receive(hub.site.uploads[token][contract.STDOUT], b"something else")

    assert hub.store.objects[incoming_key("east", token, contract.STDOUT)] == b"something else"
    assert hub.store.objects[kept.key] == judged
    assert kept.size_bytes == len(judged)
    assert kept.key.startswith(f"artifacts/{token.run_id}/1/")


def test_no_row_holds_a_url() -> None:
    hub = make_hub("n1")
    hub.plan()

    hub.advance(60)

    attempt = Attempt.objects.get()
    assert attempt.context["uploads"] == {}
    assert "memory://" not in attempt.script
    assert hub.site.uploads[attempt.token]


def test_a_node_that_fails_a_gate_leaves_with_its_reason_and_stays_listed() -> None:
    hub = make_hub("n1", "n2", "n3")
    hub.site.workload = on("n2")
    job = hub.plan(FIRST, SECOND)

    hub.advance(120)

    job.refresh_from_db()
    assert (job.state, job.verdict) == (JobState.DONE, JobVerdict.FAILED)
    assert (
        counters(job)
        == recount(job)
        == {
            (1, "passed"): 2,
            (1, "failed"): 1,
            (2, "passed"): 2,
            (2, "skipped"): 1,
        }
    )
    left = JobNode.objects.get(job=job, node__name="n2")
    assert left.left_because.startswith("single-node.hello-world in stage 1 failed: ")
    assert TestRun.objects.get(stage=2, verdict="skipped").reason == left.left_because


def test_a_node_that_fails_what_is_no_gate_goes_on() -> None:
    hub = make_hub("n1")
    hub.site.workload = failing
    job = hub.plan(replace(FIRST, is_gate=False), SECOND)

    hub.advance(120)

    assert counters(job) == {(1, "failed"): 1, (2, "failed"): 1}


def test_what_is_only_measured_is_no_evidence_and_bars_nobody() -> None:
    hub = make_hub("n1")
    hub.site.workload = failing
    job = hub.plan(replace(FIRST, measure_only=True), SECOND)

    hub.advance(120)

    assert counters(job) == {(1, "measured"): 1, (2, "failed"): 1}
    assert [each.result.run.stage for each in LatestResult.objects.all()] == [2]


def test_the_second_stage_waits_for_the_whole_first() -> None:
    hub = make_hub("n1", "n2")
    hub.site.workload = on("n1", there=lambda order: hello(order, duration_s=100))
    job = hub.plan(FIRST, SECOND)

    hub.advance(60)

    assert counters(job) == {(1, "passed"): 1, (1, "running"): 1, (2, "planned"): 2}


def test_excluded_and_drained_nodes_are_skipped_at_once_and_listed() -> None:
    hub = make_hub("n1", "n2", "n3")
    Node.objects.filter(name="n2").update(excluded_because="waits for a new board")
    Node.objects.filter(name="n3").update(
        is_usable=False, slurm_state="DRAINED", slurm_reason="bad fan"
    )
    job = hub.plan(FIRST, SECOND)

    assert counters(job) == {
        (1, "planned"): 1,
        (1, "skipped"): 2,
        (2, "planned"): 1,
        (2, "skipped"): 2,
    }
    assert set(job.members.values_list("left_because", flat=True)) == {
        "",
        "n2 is excluded: waits for a new board",
        "n3 is drained in Slurm: bad fan",
    }


def test_a_job_whose_nodes_are_all_excluded_is_done_and_incomplete() -> None:
    hub = make_hub("n1")
    Node.objects.update(excluded_because="sold")

    job = hub.plan()

    assert (job.state, job.verdict) == (JobState.DONE, JobVerdict.INCOMPLETE)


def test_what_slurm_refuses_is_errored_in_its_words() -> None:
    hub = make_hub("n1", "n2")
    hub.site.cluster.answers = [SubmitAnswer(Answer.REFUSED, words="Invalid qos specification")]
    job = hub.plan(ONCE)

    hub.advance(60)

    refused = TestRun.objects.get(verdict=Verdict.ERRORED)
    assert refused.reason == "Slurm refused the job: Invalid qos specification"
    assert refused.cause == Cause.INFRASTRUCTURE
    assert Attempt.objects.get(run=refused).submission == Attempt.Submission.REFUSED
    assert counters(job) == {(1, "errored"): 1, (1, "passed"): 1}
    assert Job.objects.get().verdict == JobVerdict.INCOMPLETE


def test_a_full_slurm_is_asked_again_later() -> None:
    hub = make_hub("n1")
    hub.site.cluster.answers = [SubmitAnswer(Answer.BACK_OFF, words="MaxJobCount reached")]
    job = hub.plan()

    hub.advance(10, tick_s=5)
    waiting = TestRun.objects.get()
    hub.advance(120, tick_s=5)

    assert waiting.waits_because == "Slurm takes no more jobs for now: MaxJobCount reached"
    assert counters(job) == {(1, "passed"): 1}
    assert hub.queue.count(SubmitOrder) == 2


def test_a_node_that_dies_is_inconclusive_and_its_later_stage_skipped() -> None:
    hub = make_hub("n1", "n2")
    hub.site.workload = lambda order: hello(order, duration_s=40)
    job = hub.plan(FIRST, SECOND)
    hub.advance(20, tick_s=5)

    hub.site.cluster.fail_node("n1")
    hub.advance(200, tick_s=5)

    assert (
        counters(job)
        == recount(job)
        == {
            (1, "inconclusive"): 1,
            (1, "passed"): 1,
            (2, "passed"): 1,
            (2, "skipped"): 1,
        }
    )
    assert Job.objects.get().verdict == JobVerdict.INCOMPLETE


def test_a_run_that_is_too_slow_for_its_limit_is_judged_as_slurm_ended_it() -> None:
    hub = make_hub("n1")
    hub.site.workload = lambda order: Workload(duration_s=1000)
    job = hub.plan(replace(FIRST, timeout_minutes=1))

    hub.advance(400, tick_s=10)

    run = TestRun.objects.get(job=job)
    assert run.state == RunState.JUDGED
    assert run.verdict == Verdict.ERRORED
    assert "time limit" in run.reason


def test_a_job_that_can_never_start_is_ended_and_blamed_on_the_test() -> None:
    hub = make_hub("n1")
    hub.plan()
    hub.site.cluster._partition = replace(hub.site.cluster._partition, state="DOWN")
    hub.advance(10, tick_s=5)
    for job in hub.site.cluster._jobs:
        job.reason = "PartitionTimeLimit"
    hub.site.cluster._start_jobs = lambda: None  # type: ignore[method-assign]

    hub.advance(120, tick_s=5)

    run = TestRun.objects.get()
    assert (run.verdict, run.cause) == (Verdict.ERRORED, Cause.TEST)
    assert run.reason.startswith("the job can never start: it asks for more time")
