"""Whatever is lost, doubled, late or killed: every run is judged once, and counters are true."""

import random
from collections import Counter

import pytest

from burnin.models import Attempt, Job, TestResult, TestRun, TestRunEvent
from burnin.models.audit import Actor
from burnin.models.job import JobState
from burnin.satellite.messages import JobOrder
from burnin.slurm.cluster import Answer, SubmitAnswer
from burnin.slurm.fake import Workload
from burnin.states import RunState, Verdict
from burnin.tests.models.world import counters, recount
from burnin.tests.workflow.simulated import Hub, make_hub
from burnin.tests.workflow.trouble import RandomTrouble
from burnin.tests.workflow.workloads import failing, hello
from burnin.workflow.cancel import cancel_job
from burnin.workflow.plan import StepRequest
from runner.contract.slugs import Slugs

pytestmark = pytest.mark.django_db

STEPS = [StepRequest(Slugs.HELLO_WORLD, timeout_minutes=1, stage=stage) for stage in (1, 1, 2)]
NODES = [f"n{number}" for number in range(1, 6)]
EVENTUALLY_S = 4000


def run_into_trouble(seed: int) -> tuple[Hub, Job]:
    """Let a job of mixed fates live through minutes of trouble."""
    dice, trouble = random.Random(seed), RandomTrouble(seed)
    hub = make_hub(*NODES, trouble=trouble)
    hub.site.cluster.answers = [
        SubmitAnswer(dice.choice([Answer.UNKNOWN, Answer.BACK_OFF, Answer.REFUSED]), words="?")
        for _ in range(3)
    ]

    def fate(order: JobOrder) -> Workload:
        duration_s = dice.choice([3, 20, 45])
        kinds = [hello(order, duration_s=duration_s)] * 4 + [failing(order), Workload(100.0)]
        kinds += [hello(order, duration_s=duration_s, attempt=9)] * 2  # infrastructure's fault
        return dice.choice(kinds)

    hub.site.workload = fate
    job = hub.plan(*STEPS)
    hub.advance(dice.choice([60, 240]))
    if dice.random() < 0.3:
        hub.site.cluster.fail_node("n3")
    job.refresh_from_db()
    if dice.random() < 0.3 and job.state == JobState.ACTIVE:
        cancel_job(job, by=Actor("alice"), reason="enough", queue=hub.queue, now=hub.now)
    hub.advance(60)
    trouble.is_over = True
    return hub, job


def until_done(hub: Hub, job: Job) -> None:
    for _ in range(EVENTUALLY_S // 20):
        job.refresh_from_db()
        if job.state == JobState.DONE:
            return
        hub.advance(20, tick_s=10)


@pytest.mark.parametrize("seed", range(4))
def test_every_run_is_judged_once_and_the_counters_equal_a_recount(seed: int) -> None:
    hub, job = run_into_trouble(seed)

    until_done(hub, job)

    judged = Counter(TestRunEvent.objects.filter(after="judged").values_list("run", flat=True))
    assert job.state == JobState.DONE, counters(job)
    assert counters(job) == recount(job)
    assert sum(counters(job).values()) == len(STEPS) * len(NODES) == len(judged)
    assert set(judged.values()) == {1}
    assert set(hub.site.workloads_asked.values()) <= {1}
    assert set(Attempt.objects.values_list("number", flat=True)) == {1, 2}
    measured = TestRun.objects.filter(verdict__in=[Verdict.PASSED, Verdict.FAILED])
    assert set(measured.values_list("pk", flat=True)) == set(
        TestResult.objects.filter(verdict__in=[Verdict.PASSED, Verdict.FAILED]).values_list(
            "run_id", flat=True
        )
    )
    assert not TestRun.objects.exclude(state=RunState.JUDGED).exists()
