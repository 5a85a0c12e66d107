"""Which jobs the hub has been told of, and how: what differs now is news."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from burnin.satellite.messages import JobGone, JobSeen
from burnin.satellite.reach import clip
from burnin.slurm.claims import in_order
from burnin.slurm.cluster import JobSnapshot, Observation
from burnin.slurm.states import outcome_of
from runner.contract.wire import AttemptToken

GONE_AFTER = timedelta(seconds=30)  # between two looks that find a job nowhere
# Accounting may go on saying "running" of a job whose end it was never told.
RUNAWAY_AFTER = timedelta(minutes=10)


@dataclass
class _Job:
    """`since` is when we learned of it: an earlier look cannot show it."""

    job_id: str
    since: datetime
    seen_in_look: int = 0
    snapshot: JobSnapshot | None = None
    missing_since: datetime | None = None


@dataclass(frozen=True)
class Look:
    """What one look at the queue says. `missing` is to be looked up, `surplus` to be ended."""

    news: list[JobSeen] = field(default_factory=list)
    missing: dict[str, AttemptToken] = field(default_factory=dict)
    surplus: list[str] = field(default_factory=list)


class Tracker:
    """Safe to share between threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._jobs: dict[AttemptToken, _Job] = {}
        self._ignored: set[AttemptToken] = set()
        self._looks = 0
        self._all_told: Mapping[AttemptToken, Sequence[JobSnapshot]] | None = None

    def ignore(self, token: AttemptToken) -> None:
        """Say nothing of this job: it is our own."""
        with self._lock:
            self._ignored.add(token)

    def adopt(self, token: AttemptToken, job_id: str, *, at: datetime) -> None:
        """Follow this job from now on; of several with its token it is the one that counts."""
        with self._lock:
            known = self._jobs.get(token)
            if known is None or known.job_id != job_id:
                self._jobs[token] = _Job(job_id, since=at)
                self._all_told = None

    def knows(self, token: AttemptToken) -> bool:
        with self._lock:
            return token in self._jobs

    def see(self, observation: Observation) -> Look:
        """Compare one successful look with what was told before."""
        look = Look()
        with self._lock:
            if observation.snapshots == self._all_told:
                return look
            self._looks += 1
            for token, snapshots in observation.snapshots.items():
                if token in self._ignored:
                    continue
                self._see_one(token, snapshots, observation.at, look)
            # By number, not by asking the look for each token: that would hash them all again.
            unseen = [token for token, job in self._jobs.items() if job.seen_in_look != self._looks]
            for token in unseen:
                self._miss_one(token, observation.at, look)
            self._all_told = None if unseen or look.surplus else observation.snapshots
        return look

    def _see_one(
        self, token: AttemptToken, snapshots: Sequence[JobSnapshot], at: datetime, look: Look
    ) -> None:
        job = self._jobs.get(token)
        if job is not None and len(snapshots) == 1 and _is_same(job.snapshot, snapshots[0]):
            # The path of all the jobs that did not move.
            job.missing_since, job.seen_in_look = None, self._looks
            return
        ours = _ours(snapshots, job)
        look.surplus.extend(
            each.job_id for each in snapshots if each is not ours and not is_over(each)
        )
        if job is None or job.job_id != ours.job_id:
            job = self._jobs[token] = _Job(ours.job_id, since=at)
        job.missing_since, job.seen_in_look = None, self._looks
        if not _is_same(job.snapshot, ours):
            job.snapshot = ours
            look.news.append(seen(ours))

    def _miss_one(self, token: AttemptToken, at: datetime, look: Look) -> None:
        job = self._jobs[token]
        if job.snapshot is not None and is_over(job.snapshot):
            del self._jobs[token]  # its end was told; Slurm forgets it, and so do we
        elif at > job.since:
            look.missing[job.job_id] = token

    def looked_up(
        self,
        missing: Mapping[str, AttemptToken],
        found: Mapping[str, JobSnapshot],
        *,
        at: datetime,
    ) -> list[JobSeen | JobGone]:
        """Say what a successful look-up of missing jobs means."""
        with self._lock:
            told = [self._looked_up(token, found.get(job_id), at, job_id=job_id)
                    for job_id, token in missing.items()]  # fmt: skip
        return [fact for fact in told if fact is not None]

    def _looked_up(
        self, token: AttemptToken, found: JobSnapshot | None, at: datetime, *, job_id: str
    ) -> JobSeen | JobGone | None:
        job = self._jobs.get(token)
        if job is None or job.job_id != job_id:
            return None
        if found is not None and (is_over(found) or found.source == "scontrol"):
            job.missing_since = None
            if _is_same(job.snapshot, found):
                return None
            job.snapshot = found
            return seen(found)
        patience = GONE_AFTER if found is None else RUNAWAY_AFTER
        job.missing_since = job.missing_since or at
        if at - job.missing_since <= patience:
            return None
        del self._jobs[token]
        return JobGone(run_id=token.run_id, attempt=token.attempt, job_id=job_id)

    def everything(self) -> list[JobSeen]:
        """Return all that is known of jobs, as if it were news."""
        with self._lock:
            return [seen(job.snapshot) for job in self._jobs.values() if job.snapshot]


def is_over(snapshot: JobSnapshot) -> bool:
    """Say whether Slurm has had its last word on the job."""
    return outcome_of(snapshot.state, snapshot.reason, source=snapshot.source).final


def seen(snapshot: JobSnapshot) -> JobSeen:
    return JobSeen(
        run_id=snapshot.token.run_id,
        attempt=snapshot.token.attempt,
        job_id=snapshot.job_id,
        state=clip(snapshot.state, 63),
        reason=clip(snapshot.reason),
        node_list=clip(snapshot.node_list),
        exit_code=clip(snapshot.exit_code or "", 15),
        derived_exit_code=clip(snapshot.derived_exit_code or "", 15),
        source=snapshot.source,
    )


def live_ids(snapshots: Iterable[JobSnapshot]) -> list[str]:
    return [each.job_id for each in snapshots if not is_over(each)]


def _ours(snapshots: Sequence[JobSnapshot], job: _Job | None) -> JobSnapshot:
    """Return the job that was adopted; if none was, the oldest."""
    adopted = [each for each in snapshots if job is not None and each.job_id == job.job_id]
    return adopted[0] if adopted else in_order(snapshots)[0]


def _is_same(told: JobSnapshot | None, now: JobSnapshot) -> bool:
    return told is not None and (
        told.state == now.state
        and told.job_id == now.job_id
        and told.reason == now.reason
        and told.node_list == now.node_list
        and told.exit_code == now.exit_code
        and told.derived_exit_code == now.derived_exit_code
        and told.source == now.source  # accounting's "PREEMPTED" is final, squeue's is not
    )
