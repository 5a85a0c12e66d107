"""When a job whose submission ended in doubt may be submitted again: the grace.

"Socket timed out" may mean accepted, and a stopped controller accepts later. So a token is
asked for again only after two successful observations, more than MessageTimeout apart and
both within MinJobAge of the sbatch call, that do not show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from burnin.slurm.cluster import ClusterFacts, JobSnapshot, Observation
from runner.contract.wire import AttemptToken


@dataclass(frozen=True)
class Unresolved:
    """A token whose submission ended in doubt.

    `asked_at` is the earliest time sbatch may have been called, `answered_at` the time the
    doubt was learned of: only what is observed after it counts. `absent_since` is the first
    such observation that did not show the token.
    """

    token: AttemptToken
    asked_at: datetime
    answered_at: datetime
    absent_since: datetime | None = None


@dataclass(frozen=True)
class Wait:
    """Nothing is decided. Keep `unresolved` for the next observation."""

    unresolved: Unresolved


@dataclass(frozen=True)
class Adopt:
    """Slurm has the job: `job_id` is ours, and `surplus` is to be cancelled."""

    job_id: str
    surplus: tuple[str, ...]


@dataclass(frozen=True)
class AskAgain:
    """Slurm did not take the job: submit it with its token in `resubmit`."""

    token: AttemptToken


@dataclass(frozen=True)
class GiveUp:
    """It can no longer be shown whether Slurm took the job; a person or the artifacts decide."""

    sentence: str


Decision = Wait | Adopt | AskAgain | GiveUp


def decide(unresolved: Unresolved, observation: Observation, facts: ClusterFacts) -> Decision:
    """Say what one successful observation tells of a doubtful submission."""
    found = observation.snapshots.get(unresolved.token, [])
    if found:
        first, *others = in_order(found)
        return Adopt(first.job_id, tuple(job.job_id for job in others))
    if observation.at <= unresolved.answered_at:
        return Wait(unresolved)
    if _is_forgotten(unresolved, observation, facts):
        return GiveUp(
            f"it is not known whether Slurm took {unresolved.token.job_name}: "
            f"it forgets jobs after {facts.min_job_age_s} s and was not seen in that time"
        )
    if unresolved.absent_since is None:
        return Wait(replace(unresolved, absent_since=observation.at))
    if observation.at - unresolved.absent_since > timedelta(seconds=facts.message_timeout_s):
        return AskAgain(unresolved.token)
    return Wait(unresolved)


def in_order(snapshots: Sequence[JobSnapshot]) -> list[JobSnapshot]:
    """Return a token's jobs, oldest first. Slurm's ids grow."""
    return sorted(snapshots, key=lambda job: int(job.job_id))


def _is_forgotten(unresolved: Unresolved, observation: Observation, facts: ClusterFacts) -> bool:
    """A job that ran at once may have left squeue by now. MinJobAge 0 keeps jobs for ever."""
    age = observation.at - unresolved.asked_at
    return facts.min_job_age_s > 0 and age >= timedelta(seconds=facts.min_job_age_s)
