"""Attempts that were cancelled: whatever Slurm shows of them is ended, whenever it shows it."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from burnin.satellite.tracker import live_ids
from burnin.slurm.cluster import Observation
from runner.contract.wire import AttemptToken

REMEMBERED_FOR = timedelta(days=1)
CANCEL_AGAIN_AFTER = timedelta(seconds=10)


@dataclass
class _Cancelled:
    reason: str
    at: datetime
    asked_at: datetime | None = None
    is_answered: bool = False


class Unwanted:
    """Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cancelled: dict[AttemptToken, _Cancelled] = {}

    def add(self, tokens: Iterable[AttemptToken], reason: str, *, at: datetime) -> None:
        with self._lock:
            self._forget_old(at)
            for token in tokens:
                self._cancelled[token] = _Cancelled(reason, at)

    def reason(self, token: AttemptToken) -> str | None:
        """Return why the attempt was cancelled; None if it was not."""
        with self._lock:
            found = self._cancelled.get(token)
        return None if found is None else found.reason

    def to_cancel(self, observation: Observation) -> list[str]:
        """Return the ids of unwanted jobs that live and were not cancelled just now."""
        ids: list[str] = []
        with self._lock:
            for token, cancelled in self._cancelled.items():
                live = live_ids(observation.snapshots.get(token, ()))
                asked_at = cancelled.asked_at
                if live and (asked_at is None or observation.at - asked_at > CANCEL_AGAIN_AFTER):
                    cancelled.asked_at = observation.at
                    ids += live
        return ids

    def never_taken(self, observation: Observation) -> dict[AttemptToken, str]:
        """Return, once, the attempts that a look after their cancelling does not show."""
        absent: dict[AttemptToken, str] = {}
        with self._lock:
            for token, cancelled in self._cancelled.items():
                if not cancelled.is_answered and observation.at > cancelled.at:
                    cancelled.is_answered = True
                    if token not in observation.snapshots:
                        absent[token] = cancelled.reason
        return absent

    def _forget_old(self, at: datetime) -> None:
        old = [token for token, each in self._cancelled.items() if at - each.at > REMEMBERED_FOR]
        for token in old:
            del self._cancelled[token]
