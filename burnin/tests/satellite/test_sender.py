"""Facts on their way to a hub that is away, slow, or cannot read one of them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from burnin.satellite.hub_client import HubDisliked, HubRefused, HubUnreachable
from burnin.satellite.messages import Fact, FactAnswer, FactBatch, Heartbeat, JobSeen, Refusal
from burnin.satellite.outbox import Outbox
from burnin.satellite.sender import LONGEST_PAUSE_S, Sender
from burnin.tests.satellite.test_outbox import run_id, seen


class Hub:
    """A hub as it should be, until `problem` is set or `poison` arrives."""

    def __init__(self) -> None:
        self.batches: list[FactBatch] = []
        self.tries = 0
        self.problem: Exception | None = None
        self.poison = ""
        self.refuses = ""
        self.is_mute = False

    def post(self, batch: FactBatch) -> FactAnswer:
        self.tries += 1
        if self.problem is not None:
            raise self.problem
        if self.poison and any(getattr(e.fact, "run_id", "") == self.poison for e in batch.facts):
            raise HubDisliked("the hub answered 400: a fact cannot be read")
        if self.is_mute:
            return FactAnswer()
        self.batches.append(batch)
        refused = {e.id for e in batch.facts if getattr(e.fact, "run_id", "") == self.refuses}
        return FactAnswer(
            acknowledged=tuple(e.id for e in batch.facts if e.id not in refused),
            refused=tuple(Refusal(id=each, words="of another site") for each in refused),
        )

    def jobs(self) -> list[Fact]:
        every = [envelope.fact for batch in self.batches for envelope in batch.facts]
        return [fact for fact in every if isinstance(fact, JobSeen)]


class Bench:
    def __init__(self) -> None:
        self.now_s = 1000.0
        self.hub, self.outbox = Hub(), Outbox()
        self.sender = Sender(
            self.outbox, self.hub, self._heartbeat, heartbeat_s=5.0, clock=lambda: self.now_s
        )

    def _heartbeat(self) -> Heartbeat:
        at = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=self.now_s)
        return Heartbeat(at=at, version="1")

    def run(self, seconds: float) -> None:
        """Do what the sender's thread does in so many seconds."""
        end = self.now_s + seconds
        while self.now_s < end:
            self.now_s += max(self.sender.step(), 0.001)


def test_a_heartbeat_is_sent_every_five_seconds_and_nothing_else_when_nothing_happens() -> None:
    bench = Bench()

    bench.run(60)

    assert 12 <= len(bench.hub.batches) <= 13
    assert {len(batch.facts) for batch in bench.hub.batches} == {1}


def test_a_hub_that_was_away_for_an_hour_gets_the_newest_of_each_job_in_a_few_posts() -> None:
    bench = Bench()
    bench.hub.problem = HubUnreachable("the hub did not answer")
    for change in range(6):
        bench.outbox.put([seen(f"S{change}", number) for number in range(3000)])
        bench.run(600)
    waiting, tries = len(bench.outbox), bench.hub.tries

    bench.hub.problem = None
    bench.run(LONGEST_PAUSE_S + 1)

    assert waiting == 3001  # a job each, and the heartbeat
    assert tries < 3600 / (LONGEST_PAUSE_S / 2)
    assert bench.hub.jobs() == [seen("S5", number) for number in range(3000)]
    assert len(bench.hub.batches) <= 4 + 4  # some heartbeats among them
    assert len(bench.outbox) == 0


def test_a_fact_that_the_hub_refuses_is_not_sent_again() -> None:
    bench = Bench()
    bench.hub.refuses = run_id(1)
    bench.outbox.put([seen("RUNNING", 1), seen("RUNNING", 2)])

    bench.run(60)

    assert bench.hub.jobs() == [seen("RUNNING", 1), seen("RUNNING", 2)]


def test_one_fact_that_the_hub_chokes_on_is_found_and_the_others_arrive(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bench = Bench()
    bench.hub.poison = run_id(77)
    bench.outbox.put([seen("RUNNING", number) for number in range(100)])

    bench.run(10)

    assert {fact.run_id for fact in bench.hub.jobs() if isinstance(fact, JobSeen)} == {
        run_id(number) for number in range(100) if number != 77
    }
    assert bench.hub.tries < 40
    assert "dropped a fact of kind job_seen" in caplog.text


def test_a_revoked_token_is_complained_of_once_and_tried_again_at_leisure(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bench = Bench()
    bench.hub.problem = HubRefused("the hub answered 401: the token was revoked")

    bench.run(600)

    assert caplog.text.count("the token was revoked") == 1
    assert bench.hub.tries < 600 / (LONGEST_PAUSE_S / 2) + 5


def test_a_hub_that_answers_for_nothing_is_not_flooded() -> None:
    bench = Bench()
    bench.hub.is_mute = True
    bench.outbox.put([seen("RUNNING")])

    bench.run(600)

    assert bench.hub.tries < 100


def test_a_defect_of_ours_lets_no_heartbeat_through_and_loses_no_fact() -> None:
    bench = Bench()
    bench.outbox.put([seen(run_id(1))])
    bench.hub.problem = RuntimeError("a defect")

    for _ in range(10):  # as often as its thread would try
        with pytest.raises(RuntimeError):
            bench.sender.step()
        bench.now_s += 5
    assert bench.hub.batches == []
    bench.hub.problem = None
    bench.run(5)

    assert len(bench.hub.jobs()) == 1
