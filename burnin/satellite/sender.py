"""Brings the outbox to the hub, one POST at a time, with a heartbeat in between."""

from __future__ import annotations

import logging
import random
from collections.abc import Callable
from typing import Protocol

from burnin.satellite.hub_client import HubDisliked, HubRefused, HubUnreachable
from burnin.satellite.messages import FACTS_PER_POST, FactAnswer, FactBatch, Heartbeat
from burnin.satellite.outbox import Outbox

logger = logging.getLogger(__name__)

FIRST_PAUSE_S = 1.0
LONGEST_PAUSE_S = 15.0  # so that the hub knows within seconds of its return that we are there


class Hub(Protocol):
    def post(self, batch: FactBatch) -> FactAnswer: ...


class Sender:
    """One step is one POST. `clock` is monotonic, in seconds."""

    def __init__(
        self,
        outbox: Outbox,
        hub: Hub,
        heartbeat: Callable[[], Heartbeat],
        *,
        heartbeat_s: float,
        clock: Callable[[], float],
    ) -> None:
        self._outbox, self._hub, self._heartbeat = outbox, hub, heartbeat
        self._heartbeat_s, self._clock = heartbeat_s, clock
        self._heartbeat_due = clock()
        self._not_before = clock()
        self._failures = 0
        self._most = FACTS_PER_POST
        self._said = ""

    def step(self) -> float:
        """Send what one POST may hold; return seconds until there is something to do."""
        now = self._clock()
        if now < self._not_before:
            return self._not_before - now
        if now >= self._heartbeat_due:
            self._outbox.put([self._heartbeat()])
            self._heartbeat_due = now + self._heartbeat_s
        batch = self._outbox.batch(self._most)
        if batch is not None:
            self._send(batch)
        if len(self._outbox):
            return max(0.0, self._not_before - self._clock())
        return max(0.0, self._heartbeat_due - self._clock())

    def _send(self, batch: FactBatch) -> None:
        try:
            answer = self._hub.post(batch)
        except (HubUnreachable, HubRefused) as error:
            self._back_off(str(error))
        except HubDisliked as error:
            self._send_less(batch, str(error))
        else:
            self._settle(batch, answer)

    def _settle(self, batch: FactBatch, answer: FactAnswer) -> None:
        self._outbox.settle(answer)
        for refusal in answer.refused:
            logger.warning("the hub refused a fact: %.500s", refusal.words)
        answered = {*answer.acknowledged, *(refusal.id for refusal in answer.refused)}
        if answered.isdisjoint(envelope.id for envelope in batch.facts):
            self._back_off("the hub answered for none of the facts it was sent")
            return
        if self._said:
            logger.info("the hub takes facts again")
        self._failures, self._said = 0, ""
        self._most = min(FACTS_PER_POST, self._most * 2)

    def _back_off(self, words: str) -> None:
        pause_s = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2 ** min(self._failures, 10))
        self._not_before = self._clock() + pause_s * random.uniform(0.5, 1.0)
        self._failures += 1
        if words != self._said:
            logger.warning("%s; %d facts wait", words, len(self._outbox))
        self._said = words

    def _send_less(self, batch: FactBatch, words: str) -> None:
        """Find the fact that the hub chokes on: halve until it stands alone, then drop it."""
        if len(batch.facts) > 1:
            self._most = len(batch.facts) // 2
            return
        fact = batch.facts[0]
        logger.error("dropped a fact of kind %s: %s", fact.fact.kind, words)
        self._outbox.settle(FactAnswer(acknowledged=(fact.id,)))
