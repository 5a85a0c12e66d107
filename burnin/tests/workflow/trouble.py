"""What can happen on the way between hub and site: a queue that forgets, and trouble."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from burnin.satellite.messages import (
    Message,
)
from burnin.workflow.site_queue import QueueUnreachable


class FakeQueue:
    """Obeys SiteQueue. An order that is not taken in time is gone."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self.is_reachable = True
        self.sent: list[tuple[str, str, Message]] = []
        self._waiting: list[tuple[datetime, str, Message]] = []

    def send(self, site_name: str, task_name: str, order: Message, *, expires_s: int) -> None:
        if not self.is_reachable:
            raise QueueUnreachable("the broker is switched off")
        order = type(order).model_validate(json.loads(order.model_dump_json()), strict=False)
        self.sent.append((site_name, task_name, order))
        self._waiting.append((self._now() + timedelta(seconds=expires_s), site_name, order))

    def take(self, site_name: str) -> list[Message]:
        """Return the site's orders that have not expired, oldest first."""
        mine = [each for each in self._waiting if each[1] == site_name]
        self._waiting = [each for each in self._waiting if each[1] != site_name]
        return [order for expires_at, _, order in mine if expires_at > self._now()]

    def count(self, kind: type[Message]) -> int:
        return sum(isinstance(order, kind) for _, _, order in self.sent)


class Trouble:
    """What becomes of orders and facts on their way, and of processes. By itself: nothing."""

    def meet(self, things: list[Any]) -> list[Any]:
        return things

    def strikes(self) -> bool:
        return False


class RandomTrouble(Trouble):
    """Drops, doubles and reorders, and strikes now and then, until it is over."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.is_over = False

    def meet(self, things: list[Any]) -> list[Any]:
        if self.is_over:
            return things
        copies = self._random.choices((0, 1, 2), weights=(15, 70, 15), k=len(things))
        met = [thing for thing, count in zip(things, copies, strict=True) for _ in range(count)]
        self._random.shuffle(met)
        return met

    def strikes(self) -> bool:
        return not self.is_over and self._random.random() < 0.15
