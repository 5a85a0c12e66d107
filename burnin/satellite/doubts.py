"""Submissions whose outcome is not known: watched until it is, and only then made again."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field

from burnin.slurm import claims
from burnin.slurm.cluster import ClusterFacts, Observation, Submission
from runner.contract.wire import AttemptToken


@dataclass(frozen=True)
class _Doubt:
    submission: Submission
    unresolved: claims.Unresolved


@dataclass(frozen=True)
class Settled:
    """What one look settled. `ask_again` is to be submitted again, each with its token renewed."""

    adopted: dict[AttemptToken, claims.Adopt] = field(default_factory=dict)
    given_up: dict[AttemptToken, str] = field(default_factory=dict)
    ask_again: list[Submission] = field(default_factory=list)


class Doubts:
    """Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._doubts: dict[AttemptToken, _Doubt] = {}

    def add(self, submission: Submission, unresolved: claims.Unresolved) -> None:
        """Watch a submission, unless it is watched already: its grace has then begun."""
        with self._lock:
            self._doubts.setdefault(submission.token, _Doubt(submission, unresolved))

    def drop(self, token: AttemptToken) -> None:
        with self._lock:
            self._doubts.pop(token, None)

    def holds(self, token: AttemptToken) -> bool:
        with self._lock:
            return token in self._doubts

    def __len__(self) -> int:
        return len(self._doubts)

    def settle(self, observation: Observation, facts: ClusterFacts) -> Settled:
        """Apply one successful look; what it settles is watched no longer."""
        settled = Settled()
        with self._lock:
            for token, doubt in list(self._doubts.items()):
                match claims.decide(doubt.unresolved, observation, facts):
                    case claims.Wait(unresolved):
                        self._doubts[token] = _Doubt(doubt.submission, unresolved)
                        continue
                    case claims.Adopt() as adopt:
                        settled.adopted[token] = adopt
                    case claims.GiveUp(sentence):
                        settled.given_up[token] = sentence
                    case claims.AskAgain():
                        settled.ask_again.append(doubt.submission)
                del self._doubts[token]
        return settled
