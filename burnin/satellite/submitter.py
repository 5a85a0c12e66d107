"""Hands jobs to Slurm and says what became of each, in the words of a fact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from burnin.satellite.doubts import Doubts
from burnin.satellite.messages import SubmitAnswered
from burnin.satellite.outbox import Outbox
from burnin.satellite.reach import CLUSTER_PROBLEMS, clip
from burnin.satellite.tracker import Tracker
from burnin.slurm import claims
from burnin.slurm.cluster import Answer, Cluster, Submission, SubmitAnswer
from runner.contract.wire import AttemptToken


class Submitter:
    """Safe to share between threads: the claims on the login host keep each token single."""

    def __init__(
        self,
        cluster: Cluster,
        outbox: Outbox,
        tracker: Tracker,
        doubts: Doubts,
        *,
        now: Callable[[], datetime],
    ) -> None:
        self._cluster, self._outbox, self._now = cluster, outbox, now
        self._tracker, self._doubts = tracker, doubts

    def submit(
        self,
        submissions: Sequence[Submission],
        *,
        resubmit: frozenset[AttemptToken] = frozenset(),
    ) -> None:
        """Ask Slurm in one exec. Where nothing could be learned, the hub sends the order again."""
        asked_at = self._now()
        try:
            answers = self._cluster.submit(submissions, resubmit=resubmit)
        except CLUSTER_PROBLEMS as error:
            self.answer([job.token for job in submissions], "not_asked", str(error))
            return
        for job in submissions:
            self._remember(job, answers[job.token], asked_at)
        self._outbox.put([answered(job.token, answers[job.token]) for job in submissions])

    def answer(self, tokens: Sequence[AttemptToken], kind: str, words: str) -> None:
        """Report the same of several attempts, none of which Slurm was asked for now."""
        same = SubmitAnswer(Answer.NOT_ASKED, words=words)
        facts = [answered(token, same) for token in tokens]
        self._outbox.put([fact.model_copy(update={"answer": kind}) for fact in facts])

    def _remember(self, job: Submission, answer: SubmitAnswer, asked_at: datetime) -> None:
        now = self._now()
        if answer.kind is Answer.ACCEPTED:
            self._tracker.adopt(job.token, answer.job_id, at=now)
        if answer.kind in (Answer.ACCEPTED, Answer.REFUSED):
            self._doubts.drop(job.token)
        elif answer.kind is Answer.UNKNOWN:
            asked_at = min(asked_at, now - timedelta(seconds=answer.asked_s_ago))
            self._doubts.add(job, claims.Unresolved(job.token, asked_at, answered_at=now))


def answered(token: AttemptToken, answer: SubmitAnswer) -> SubmitAnswered:
    return SubmitAnswered.model_validate(
        {
            "run_id": token.run_id,
            "attempt": token.attempt,
            "answer": answer.kind.value,
            "job_id": answer.job_id or None,
            "words": clip(answer.words),
        }
    )
