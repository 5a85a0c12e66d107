"""A batch of finished runs is judged although one of them, the store or the worker goes wrong."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from burnin.hardware_tests.artifacts import ArtifactCollector
from burnin.hardware_tests.single_node.hello_world import HelloWorld, HelloWorldMetrics
from burnin.models import Attempt, TestResult, TestRun
from burnin.models.text import storable, storable_json
from burnin.storage.memory import MemoryStore
from burnin.tests.models.world import counters
from burnin.tests.workflow.simulated import ONCE, Hub, make_hub
from burnin.workflow.bells import Silence
from burnin.workflow.collect_site import (
    CARRIED_FOR,
    LEFT_ALONE_FOR,
    STORE_AWAY,
    WORKER_ENDED,
    WORKER_ENDS,
    WRITTEN_EVERY,
    collect_site,
)
from burnin.workflow.conclude import Ended, conclude
from burnin.workflow.gather import Gathered
from burnin.workflow.plan import StepRequest
from burnin.workflow.verdicts import Conclusion

pytestmark = pytest.mark.django_db


def finished(*node_names: str, steps: Sequence[StepRequest] = ()) -> Hub:
    """Return a hub with one finished run per node, that nobody has collected."""
    hub = make_hub(*node_names)
    hub.plan(*steps)
    hub.work()
    hub.is_on = False
    hub.advance(60)
    return hub


def extract_otherwise(monkeypatch: pytest.MonkeyPatch, what: Mapping[str, Any]) -> None:
    """Have the metrics of the nodes named be what is given, or raise it."""
    extract = HelloWorld.extract_metrics

    def otherwise(self: HelloWorld, collector: ArtifactCollector) -> HelloWorldMetrics:
        given = what.get(collector.metadata.node_names[0])
        if isinstance(given, type):
            raise given
        metrics = extract(self, collector)
        return metrics if given is None else metrics.model_copy(update=given)

    monkeypatch.setattr(HelloWorld, "extract_metrics", otherwise)


def test_half_a_surrogate_pair_is_kept_as_what_a_database_takes() -> None:
    assert storable("a\ud800b\0", limit=10) == "a\ufffdb\ufffd"
    assert storable_json({"\udfff": ["\ud83d\ude00"]}) == {"\ufffd": ["\ufffd\ufffd"]}
    assert storable("\U0001f600", limit=10) == "\U0001f600"


def test_a_result_that_no_database_takes_does_not_hold_up_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hub = finished("n1", "n2", "n3")
    extract_otherwise(monkeypatch, {"n2": {"responded": 10**400}})

    assert hub.collect() == 3

    bad = TestRun.objects.get(members__node__name="n2")
    assert (bad.verdict, bad.cause) == ("errored", "test")
    assert bad.reason.startswith("its results cannot be kept: OverflowError")
    assert sorted(TestRun.objects.values_list("verdict", flat=True)) == [
        "errored",
        "passed",
        "passed",
    ]
    assert TestResult.objects.count() == 3


def test_what_brings_a_worker_to_its_end_is_left_alone_and_others_come_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hub = finished("n1", "n2", "n3")
    extract_otherwise(monkeypatch, {"n1": MemoryError})

    with pytest.raises(MemoryError):
        hub.collect()
    bad = TestRun.objects.get(members__node__name="n1")
    assert (bad.state, bad.carried_until) == ("finished", hub.now + LEFT_ALONE_FOR)
    hub.advance(CARRIED_FOR.total_seconds(), tick_s=60)
    hub.collect()

    assert sorted(TestRun.objects.values_list("verdict", flat=True)) == ["", "passed", "passed"]


def test_a_defect_that_one_run_brings_out_does_not_hold_up_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hub = finished("n1", "n2", "n3")
    bad = TestRun.objects.get(members__node__name="n1")

    def defective(ended: Ended, gathered: Gathered) -> Conclusion:
        if ended.run.pk == bad.pk:
            raise RecursionError
        return conclude(ended, gathered)

    monkeypatch.setattr("burnin.workflow.collect_site.conclude", defective)

    with pytest.raises(RecursionError):
        hub.collect()
    bad.refresh_from_db()
    assert (bad.state, bad.carried_until) == ("finished", hub.now + LEFT_ALONE_FOR)
    hub.advance(CARRIED_FOR.total_seconds(), tick_s=60)
    hub.collect()

    assert sorted(TestRun.objects.values_list("verdict", flat=True)) == ["", "passed", "passed"]


def test_what_brings_worker_after_worker_to_its_end_is_errored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hub = finished("n1", "n2", steps=[ONCE])
    extract_otherwise(monkeypatch, {"n1": MemoryError})
    TestRun.objects.update(moved_at=hub.now - timedelta(days=9))  # a long outage is no reason
    bad = TestRun.objects.get(members__node__name="n1")

    for ends in range(WORKER_ENDS):
        bad.refresh_from_db()
        told = f"judging it broke off (MemoryError), {ends} of 10 times" if ends else ""
        assert (bad.verdict, bad.waits_because) == ("", told)
        with pytest.raises(MemoryError):
            hub.collect()
        TestRun.objects.filter(state="finished").update(carried_until=None)

    bad.refresh_from_db()
    assert (bad.verdict, bad.cause) == ("errored", "infrastructure")
    assert bad.result.reason == "judging it broke off (MemoryError), 10 of 10 times"


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


def test_new_runs_come_before_one_that_ends_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = finished("n1", "n2")
    extract_otherwise(monkeypatch, {"n1": Killed})
    new = TestRun.objects.get(members__node__name="n2")
    TestRun.objects.filter(pk=new.pk).update(carried_until=hub.now + timedelta(seconds=1))
    with pytest.raises(Killed):
        hub.collect()
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


def test_what_a_worker_carried_besides_when_it_broke_off_is_under_no_suspicion(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hub = finished("n1", "n2", "n3")
    extract_otherwise(monkeypatch, {"n1": MemoryError})
    with pytest.raises(MemoryError):
        hub.collect()
    hub.advance(CARRIED_FOR.total_seconds(), tick_s=60)

    hub.collect()
    judged = Attempt.objects.filter(run__verdict="passed")
    assert list(judged.values_list("worker_ends", flat=True)) == [0, 0]


def test_a_run_that_was_put_off_is_not_taken_for_one_that_ends_workers() -> None:
    hub = finished("n1")
    for _ in range(3):
        hub.store.is_reachable = False
        hub.collect()
        hub.advance(STORE_AWAY.total_seconds())
    hub.store.is_reachable = True

    assert hub.collect() == 1
    assert Attempt.objects.get().worker_ends == 0


def test_a_slow_store_keeps_no_verdict_that_is_known_and_the_rest_stays_claimed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for one_by_one in ("DOWNLOADS_AT_ONCE", "DOWNLOADS_AHEAD"):
        monkeypatch.setattr(f"burnin.workflow.collect_site.{one_by_one}", 1)
    hub = finished(*(f"n{number}" for number in range(20)))
    (job,) = {run.job for run in TestRun.objects.all()}
    clock = SlowClock(hub.now)
    store = Unplugged(hub.store, after=15)

    with pytest.raises(KeyboardInterrupt):
        collect_site(hub.site_row, store=store, queue=hub.queue, bells=Silence(), clock=clock)

    assert counters(job)[1, "passed"] == 15
    left = TestRun.objects.filter(state="finished")
    assert left.exists()
    assert not left.exclude(carried_until__gt=hub.now + CARRIED_FOR).exists()


class SlowClock:
    """Each look at it finds it further on."""

    def __init__(self, now: datetime) -> None:
        self._now = now

    def __call__(self) -> datetime:
        self._now += WRITTEN_EVERY / 2
        return self._now


class Unplugged(MemoryStore):
    """A store whose worker is interrupted after so many files of metadata."""

    def __init__(self, store: MemoryStore, *, after: int) -> None:
        super().__init__()
        self.objects = store.objects
        self._left = after

    def fetch(self, key: str, destination: Path, *, max_bytes: int) -> None:
        if destination.name == "metadata.json":
            self._left -= 1
        if self._left < 0:
            raise KeyboardInterrupt
        super().fetch(key, destination, max_bytes=max_bytes)
