"""Whatever is lost is found again, once, and without a flood."""

import pytest

from burnin.models import Attempt, TestRun
from burnin.satellite.messages import Message, RefreshOrder, SubmitOrder
from burnin.slurm.cluster import Answer, SubmitAnswer
from burnin.states import RunState
from burnin.tests.models.world import counters, recount
from burnin.tests.workflow.simulated import Hub, make_hub
from burnin.tests.workflow.workloads import hello
from burnin.workflow.claimed import CARRIED_FOR
from burnin.workflow.plan import StepRequest
from burnin.workflow.reconcile import RESENT_PER_PASS, UNUSABLE_FOR
from fleet.models import Node, Site
from runner.contract.slugs import Slugs

pytestmark = pytest.mark.django_db

HOUR_S = 3600


def sent(hub: Hub, kind: type[Message]) -> int:
    return hub.queue.count(kind)


def test_a_lost_order_is_sent_again_with_fresh_urls() -> None:
    hub = make_hub("n1")
    job = hub.plan()
    hub.work()
    (lost,) = hub.queue.take("east")
    first = Attempt.objects.get().uploads_expire_at

    hub.advance(150)

    assert isinstance(lost, SubmitOrder)
    assert counters(job) == {(1, "passed"): 1}
    assert sent(hub, SubmitOrder) == 2
    # The site may have kept the first order's: what is known is the earlier date.
    assert Attempt.objects.get().uploads_expire_at == first


def test_a_dead_broker_loses_nothing() -> None:
    hub = make_hub("n1")
    job = hub.plan()
    hub.queue.is_reachable = False
    hub.work()
    assert counters(job) == {(1, "dispatched"): 1}

    hub.advance(120)
    hub.queue.is_reachable = True
    hub.advance(150)

    assert counters(job) == {(1, "passed"): 1}


def test_a_satellite_that_forgot_everything_doubles_nothing() -> None:
    hub = make_hub("n1", "n2")
    hub.site.workload = lambda order: hello(order, duration_s=60)
    job = hub.plan()
    hub.advance(10)

    hub.site.kill()
    hub.advance(120)

    assert counters(job) == {(1, "passed"): 2}
    assert set(hub.site.workloads_asked.values()) == {1}


def test_a_job_that_left_squeue_while_the_satellite_was_away_is_asked_for() -> None:
    hub = make_hub("n1")
    hub.site.workload = lambda order: hello(order, duration_s=60)
    job = hub.plan()
    hub.advance(20)
    hub.site.is_on = False
    hub.site.kill()
    hub.advance(1000, tick_s=50)

    hub.site.is_on = True
    hub.advance(120)

    assert sent(hub, RefreshOrder) >= 1
    assert counters(job) == {(1, "passed"): 1}


def test_a_submission_in_doubt_is_left_to_the_satellite() -> None:
    hub = make_hub("n1")
    hub.site.cluster.answers = [SubmitAnswer(Answer.UNKNOWN, words="Socket timed out")]
    job = hub.plan()
    hub.advance(10, tick_s=5)
    run = TestRun.objects.get()

    hub.advance(120, tick_s=5)

    words = "it is not known yet whether Slurm took the job: Socket timed out"
    assert (run.state, run.waits_because) == (RunState.DISPATCHED, words)
    assert counters(job) == {(1, "passed"): 1}
    assert sent(hub, SubmitOrder) == 1


def test_a_doubt_that_its_satellite_forgot_is_brought_back_by_the_order() -> None:
    hub = make_hub("n1")
    hub.site.cluster.answers = [SubmitAnswer(Answer.UNKNOWN, words="Socket timed out")]
    job = hub.plan()
    hub.advance(10, tick_s=5)

    hub.site.kill()
    hub.advance(500, tick_s=20)

    assert counters(job) == {(1, "passed"): 1}
    assert sent(hub, SubmitOrder) == 2
    assert set(hub.site.workloads_asked.values()) == {1}


def test_a_site_that_is_off_for_an_hour_changes_no_verdict_and_is_not_flooded() -> None:
    hub = make_hub(*(f"n{number}" for number in range(1, 41)))
    Site.objects.update(queue_ahead=20)
    hub.site.workload = lambda order: hello(order, duration_s=30)
    job = hub.plan(*[StepRequest(Slugs.HELLO_WORLD, timeout_minutes=5)] * 3)
    hub.advance(20)
    hub.site.is_on = False

    hub.advance(HOUR_S, tick_s=60)
    while_off = counters(job)
    waiting = len(hub.queue.take("east"))
    hub.site.is_on = True
    posts, orders = len(hub.site.posts), len(hub.queue.sent)
    hub.advance(30)
    after = hub.site.posts[posts:], len(hub.queue.sent) - orders
    hub.advance(600, tick_s=20)

    assert set(while_off) <= {(1, each) for each in ("passed", "dispatched", "submitted")} | {
        (1, "running")
    }
    assert waiting == 0
    assert max(after[0]) <= 1000
    assert after[1] <= RESENT_PER_PASS / 100 + 3
    assert counters(job) == recount(job) == {(1, "passed"): 120}
    assert set(hub.site.workloads_asked.values()) == {1}


def test_nothing_is_sent_to_a_site_that_is_away() -> None:
    hub = make_hub("n1")
    hub.plan()
    hub.site.is_on = False
    hub.advance(20)
    before = len(hub.queue.sent)

    hub.advance(HOUR_S, tick_s=60)

    assert len(hub.queue.sent) == before


def test_a_node_that_was_unusable_before_an_outage_gets_its_patience_again() -> None:
    hub = make_hub("n1")
    hub.plan()
    Node.objects.update(is_usable=False, slurm_state="DOWN")
    hub.reconcile()
    hub.site.is_on = False
    hub.advance(1200, tick_s=60)

    Site.objects.update(heartbeat_at=hub.now)
    hub.reconcile()

    run = TestRun.objects.get()
    assert (run.state, run.carried_until) == (RunState.PLANNED, hub.now + UNUSABLE_FOR)


def test_a_site_that_is_away_does_not_slow_another() -> None:
    east, west = make_hub("n1"), make_hub("w1", name="west")
    east.site.is_on = False
    first, second = east.plan(), west.plan()

    for _ in range(12):
        east.advance(5)
        west.advance(5)

    assert counters(second) == {(1, "passed"): 1}
    assert counters(first) == {(1, "dispatched"): 1}


def test_a_collector_that_died_is_followed_by_another() -> None:
    hub = make_hub("n1")
    job = hub.plan()
    hub.is_on = False
    hub.advance(5)
    hub.work()
    hub.advance(40)
    (run,) = TestRun.objects.claim(
        [TestRun.objects.get().pk], RunState.FINISHED, for_=CARRIED_FOR, now=hub.now
    )

    hub.is_on = True
    hub.advance(30)
    held = counters(job)
    hub.advance(200)

    assert run.state == RunState.FINISHED
    assert held == {(1, "finished"): 1}
    assert counters(job) == {(1, "passed"): 1}
