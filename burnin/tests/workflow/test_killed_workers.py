"""A worker that is killed leaves its runs in hand: each is suspect, and judged by itself."""

from datetime import timedelta

import pytest
from django.db.models import F

from burnin.models import Attempt, TestRun
from burnin.models.audit import Actor
from burnin.satellite.messages import Relayed
from burnin.states import RunState
from burnin.tests.workflow.facts import about, post
from burnin.tests.workflow.simulated import ONCE
from burnin.tests.workflow.uncollected import extract_otherwise, finished
from burnin.workflow.cancel import cancel_job
from burnin.workflow.claimed import CARRIED_FOR, LEFT_ALONE_FOR, WORKER_ENDED, WORKER_ENDS
from burnin.workflow.collect_site import STORE_AWAY

pytestmark = pytest.mark.django_db


class Killed(BaseException):
    """Nothing of ours catches it, as nothing does when the kernel ends a worker."""


def test_runs_that_have_their_workers_killed_hold_up_no_other_for_long_and_are_errored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hub = finished("n1", "n2", "n3", "n4", steps=[ONCE])
    extract_otherwise(monkeypatch, {"n1": Killed, "n2": Killed})
    bad = TestRun.objects.filter(members__node__name__in=["n1", "n2"])
    others = TestRun.objects.exclude(pk__in=bad)

    with pytest.raises(Killed):
        hub.collect()
    hub.advance(CARRIED_FOR.total_seconds())
    for _ in bad:
        with pytest.raises(Killed):
            hub.collect()
    assert {run.waits_because for run in bad.all()} == {f"{WORKER_ENDED}, 1 of 10 times"}
    hub.collect()
    assert [run.verdict for run in others.all()] == ["passed", "passed"]

    for _ in range(WORKER_ENDS - 1):
        hub.advance(LEFT_ALONE_FOR.total_seconds(), tick_s=60)
        for _ in bad:
            with pytest.raises(Killed):
                hub.collect()
    hub.advance(LEFT_ALONE_FOR.total_seconds(), tick_s=60)
    hub.collect()

    for run in bad.all():
        assert (run.verdict, run.cause) == ("errored", "infrastructure")
        assert run.result.reason == f"{WORKER_ENDED}, 10 of 10 times"


def test_healthy_runs_come_before_any_number_of_suspects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("burnin.workflow.claimed.RUNS_PER_BATCH", 2)
    hub = finished("n1", "n2", "n3", "n4")
    extract_otherwise(monkeypatch, {"n1": Killed, "n2": Killed})
    newer = TestRun.objects.filter(members__node__name__in=["n3", "n4"])
    newer.update(created_at=F("created_at") + timedelta(hours=1))
    with pytest.raises(Killed):
        hub.collect()
    hub.advance(CARRIED_FOR.total_seconds())

    hub.collect()

    verdicts = TestRun.objects.order_by("members__node__name").values_list("verdict", flat=True)
    assert list(verdicts) == ["", "", "passed", "passed"]


def test_new_runs_come_before_one_that_ends_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = finished("n1", "n2")
    extract_otherwise(monkeypatch, {"n1": Killed})
    new = TestRun.objects.get(members__node__name="n2")
    TestRun.objects.filter(pk=new.pk).update(carried_until=hub.now + timedelta(seconds=1))
    with pytest.raises(Killed):
        hub.collect()
    assert TestRun.objects.get(in_hand=True) != new
    hub.advance(CARRIED_FOR.total_seconds())

    with pytest.raises(Killed):
        hub.collect()

    new.refresh_from_db()
    assert new.verdict == "passed"


def test_what_a_killed_worker_carried_besides_is_judged_once_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hub = finished("n1", "n2")
    with monkeypatch.context() as first:
        extract_otherwise(first, {"n1": Killed})
        with pytest.raises(Killed):
            hub.collect()
    hub.advance(CARRIED_FOR.total_seconds())

    assert hub.collect() == 2
    runs = TestRun.objects.values_list("verdict", "attempts__worker_ends", "in_hand")
    assert list(runs) == [("passed", 1, False), ("passed", 1, False)]


def test_a_suspect_whose_collection_breaks_off_is_not_counted_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hub = finished("n1")
    run = TestRun.objects.get()
    with monkeypatch.context() as first:
        extract_otherwise(first, {"n1": Killed})
        with pytest.raises(Killed):
            hub.collect()
    hub.advance(CARRIED_FOR.total_seconds())

    with monkeypatch.context() as full:
        full.setattr("burnin.workflow.scratch.has_room", lambda _: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            hub.collect()

    run.refresh_from_db()
    assert run.waits_because == "collecting it broke off (ZeroDivisionError)"
    assert (run.in_hand, run.attempts.get().worker_ends) == (True, 0)
    hub.advance(LEFT_ALONE_FOR.total_seconds(), tick_s=60)
    assert hub.collect() == 1


@pytest.mark.parametrize("cuts", ["cancel", "relay"])
def test_a_claim_that_others_cut_short_makes_no_suspect(cuts: str) -> None:
    hub = finished("n1")
    run = TestRun.objects.get()
    TestRun.objects.claim([run.pk], RunState.FINISHED, for_=CARRIED_FOR, now=hub.now)
    if cuts == "cancel":
        by = Actor("alice")
        cancel_job(run.job, by=by, reason="wrong nodes", queue=hub.queue, now=hub.now)
    else:
        post(hub, Relayed(**about(run, names=(), words="nothing is there")))

    assert hub.collect() == 1
    assert Attempt.objects.get().worker_ends == 0


def test_a_run_that_was_put_off_is_not_taken_for_one_that_ends_workers() -> None:
    hub = finished("n1")
    for _ in range(3):
        hub.store.is_reachable = False
        hub.collect()
        hub.advance(STORE_AWAY.total_seconds())
    hub.store.is_reachable = True

    assert hub.collect() == 1
    assert Attempt.objects.get().worker_ends == 0
