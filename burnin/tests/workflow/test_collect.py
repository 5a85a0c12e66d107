"""A batch of finished runs is judged although one of them, the store or the worker goes wrong."""

import time
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from django.db import OperationalError

from burnin.models import Attempt, TestResult, TestRun
from burnin.models.text import storable, storable_json
from burnin.storage.memory import MemoryStore
from burnin.tests.models.world import counters
from burnin.tests.workflow.simulated import ONCE
from burnin.tests.workflow.uncollected import extract_otherwise, finished
from burnin.workflow.bells import Silence
from burnin.workflow.claimed import (
    CARRIED_FOR,
    LEFT_ALONE_FOR,
    WORKER_ENDS,
    Claimed,
)
from burnin.workflow.collect_site import WRITTEN_EVERY, collect_site
from burnin.workflow.conclude import Ended, conclude
from burnin.workflow.gather import Gathered
from burnin.workflow.verdicts import Conclusion, write_conclusions
from fleet.models import Site
from runner.contract.artifacts import MAX_BYTES

pytestmark = pytest.mark.django_db


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
    unharmed = Attempt.objects.filter(run__verdict="passed")
    assert list(unharmed.values_list("worker_ends", flat=True)) == [0, 0]


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


@pytest.mark.parametrize("refusals", [1, 2])
def test_runs_are_let_go_of_where_their_verdicts_could_not_be_written(
    monkeypatch: pytest.MonkeyPatch, refusals: int
) -> None:
    hub = finished("n1", "n2")
    answers = iter([OperationalError("the server closed the connection")] * refusals)

    def write(site: Site, known: Sequence[Conclusion], now: datetime) -> int:
        if error := next(answers, None):
            raise error
        return write_conclusions(site, known, now)

    monkeypatch.setattr("burnin.workflow.claimed.write_conclusions", write)

    with pytest.raises(OperationalError):
        hub.collect()

    could = refusals == 1  # the second time, of what is known
    assert set(TestRun.objects.values_list("verdict", "in_hand")) == (
        {("passed", False)} if could else {("", True)}
    )
    hub.advance(CARRIED_FOR.total_seconds())
    hub.collect()
    assert set(TestRun.objects.values_list("verdict", flat=True)) == {"passed"}


def test_claims_are_prolonged_while_nothing_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    hub = finished("n1")
    prolonged: list[Claimed] = []
    monkeypatch.setattr(Claimed, "prolong", lambda claimed: prolonged.append(claimed))
    monkeypatch.setattr("burnin.workflow.collect_site.WRITTEN_EVERY", timedelta(milliseconds=10))
    store = Slow(hub.store, delay_s=0.1)

    collect_site(
        hub.site_row, store=store, queue=hub.queue, bells=Silence(), clock=SlowClock(hub.now)
    )

    assert len(prolonged) > len(MAX_BYTES)
    assert TestRun.objects.get().verdict == "passed"


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


class Slow(MemoryStore):
    """A store that takes its time for each file."""

    def __init__(self, store: MemoryStore, *, delay_s: float) -> None:
        super().__init__()
        self.__dict__.update(store.__dict__)
        self._delay_s = delay_s

    def fetch(self, key: str, destination: Path, *, max_bytes: int) -> None:
        time.sleep(self._delay_s)
        super().fetch(key, destination, max_bytes=max_bytes)


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
