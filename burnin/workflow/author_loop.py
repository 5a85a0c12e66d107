"""One test sent to a real cluster and followed to its verdict, without a database."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Protocol, TypeVar

from burnin.satellite.config import SiteConfig
from burnin.slurm import claims
from burnin.slurm.cluster import (
    Answer,
    Cluster,
    ClusterFacts,
    ClusterUnreachable,
    JobSnapshot,
    Submission,
    SubmitAnswer,
)
from burnin.slurm.states import Outcome, never_starts
from burnin.states import Cause, Verdict
from burnin.workflow.collect import collect
from burnin.workflow.ending import LOST, ending_of
from burnin.workflow.judge import EndedRun, Judgement, judge
from burnin.workflow.render import Bundle, Order, make_submission
from runner.contract import artifacts as contract
from runner.contract.wire import AttemptToken

RETRY_S = 15.0  # until the next try, where the cluster does not answer
LOST_AFTER = timedelta(seconds=60)  # neither squeue, scontrol nor sacct knows the job
NEVER_AFTER_LOOKS = 2  # a reason can be stale for one look of the scheduler

_Reply = TypeVar("_Reply")


class Refused(Exception):
    """Slurm did not take the job. Nothing runs; the message holds Slurm's words."""


class _Unwanted(Exception):
    """It was cancelled before Slurm had it. Nothing runs; the message says by whom."""


class Clock(Protocol):
    def now(self) -> datetime: ...

    def sleep(self, seconds: float) -> None: ...


@dataclass(frozen=True)
class Report:
    """How it ended: Slurm's last word (None if it knows no job) and the place of files here."""

    judgement: Judgement
    snapshot: JobSnapshot | None
    directory: Path


@dataclass(frozen=True)
class Loop:
    """Where an order is carried out, and who hears of it.

    `stop` answers "" to go on, or why the run shall be cancelled.
    """

    site: SiteConfig
    cluster: Cluster
    clock: Clock
    tell: Callable[[str], None]
    stop: Callable[[], str]


def run_once(loop: Loop, order: Order, *, bundle: Bundle, destination: Path) -> Report:
    """Submit, watch, collect and judge.

    Raises Refused, or what the cluster raises when it cannot be reached. From the submission on
    a cluster that does not answer is asked until it does: its job goes on meanwhile.
    """
    facts = loop.cluster.facts()
    bundle_path = loop.cluster.deploy_bundle(bundle.name, bundle.content)
    submission = make_submission(
        order, loop.site, bundle_path=bundle_path, bundle_sha256=bundle.sha256
    )
    try:
        job_id = _submit(loop, submission, facts)
    except _Unwanted as error:
        skipped = Judgement(Verdict.SKIPPED, Cause.NONE, str(error))
        return Report(skipped, None, destination / order.token.directory)
    loop.tell(f"submitted as Slurm job {job_id}")
    ending = _Watch(loop, order.token, job_id).to_the_end()
    directory = _patiently(loop, lambda: collect(loop.cluster, order.token, destination))
    (directory / contract.SCRIPT).write_text(submission.script)
    return Report(_judge(order, ending, directory), ending.snapshot, directory)


def _patiently(loop: Loop, ask: Callable[[], _Reply]) -> _Reply:
    """Ask until the cluster answers. No answer says nothing of the job."""
    told = ""
    while True:
        try:
            return ask()
        except ClusterUnreachable as error:
            if str(error) != told:
                told = str(error)
                loop.tell(f"the cluster does not answer, and is asked again: {told}")
        loop.clock.sleep(RETRY_S)


def poll_delay(age_s: float) -> float:
    """Return seconds until the next look: 1 s for a young run, rising to 15 s."""
    return min(15.0, max(1.0, age_s / 20))


def _submit(loop: Loop, submission: Submission, facts: ClusterFacts) -> str:
    """Return the job's id. Asks again only where that cannot start a second workload."""
    token, resubmit = submission.token, frozenset[AttemptToken]()
    while True:
        if reason := loop.stop():
            raise _Unwanted(reason)
        asked_at = loop.clock.now()
        answer = _ask_for(loop, submission, resubmit)
        match answer.kind:
            case Answer.ACCEPTED:
                return answer.job_id
            case Answer.REFUSED:
                raise Refused(f"Slurm refused the job: {answer.words}")
            case Answer.UNKNOWN:
                loop.tell(f"it is not known yet whether Slurm took the job: {answer.words}")
                doubt = claims.Unresolved(
                    token, asked_at - timedelta(seconds=answer.asked_s_ago), loop.clock.now()
                )
                if job_id := _resolve(loop, doubt, facts):
                    return job_id
                resubmit = frozenset({token})
            case Answer.BACK_OFF | Answer.NOT_ASKED:
                loop.tell(f"Slurm takes no more jobs for now: {answer.words}")
                loop.clock.sleep(RETRY_S)


def _ask_for(loop: Loop, submission: Submission, resubmit: frozenset[AttemptToken]) -> SubmitAnswer:
    """Ask Slurm. The claim on the login host makes asking again after no answer harmless."""
    return _patiently(
        loop, lambda: loop.cluster.submit([submission], resubmit=resubmit)[submission.token]
    )


def _resolve(loop: Loop, doubt: claims.Unresolved, facts: ClusterFacts) -> str:
    """Return the id Slurm turned out to have given, or "" when it is shown that it gave none.

    Whoever wants to stop has to wait for that: a job that nobody knows of would go on.
    """
    is_told = False
    while True:
        if not is_told and (reason := loop.stop()):
            is_told = True
            loop.tell(f"cancelling: {reason}: as soon as it is known whether Slurm took the job")
        decision = claims.decide(doubt, _patiently(loop, loop.cluster.observe), facts)
        match decision:
            case claims.Adopt(job_id, surplus):
                _cancel(loop, surplus)
                return job_id
            case claims.AskAgain():
                return ""
            case claims.GiveUp(sentence):
                raise Refused(sentence)
            case claims.Wait(unresolved):
                doubt = unresolved
        loop.clock.sleep(1)


def _cancel(loop: Loop, job_ids: Sequence[str]) -> None:
    _patiently(loop, lambda: loop.cluster.cancel(job_ids))


@dataclass(frozen=True)
class _Ending:
    outcome: Outcome
    snapshot: JobSnapshot | None
    cancel_reason: str = ""
    never: str = ""


class _Watch:
    """Follows one job until Slurm's last word on it."""

    def __init__(self, loop: Loop, token: AttemptToken, job_id: str) -> None:
        self._loop, self._token, self._job_id = loop, token, job_id
        self._begun = loop.clock.now()
        self._absent_since: datetime | None = None
        self._told = ""
        self._cancel_reason = ""
        self._never, self._never_looks = "", 0

    def to_the_end(self) -> _Ending:
        while True:
            self._heed_stop()
            snapshot = _patiently(self._loop, self._look)
            if snapshot is not None:
                self._absent_since = None
                outcome = ending_of(snapshot.state, snapshot.reason, source=snapshot.source)
                self._tell(snapshot, outcome)
                if outcome.final:
                    return _Ending(outcome, snapshot, self._cancel_reason, self._never)
                self._refuse_to_wait_for_ever(snapshot)
            elif self._is_lost():
                return _Ending(LOST, None, self._cancel_reason, self._never)
            age = self._loop.clock.now() - self._begun
            self._loop.clock.sleep(poll_delay(age.total_seconds()))

    def _is_lost(self) -> bool:
        """Count only from an answer that did not show the job: silence shows nothing."""
        now = self._loop.clock.now()
        self._absent_since = self._absent_since or now
        return now - self._absent_since > LOST_AFTER

    def _look(self) -> JobSnapshot | None:
        shown = self._loop.cluster.observe().snapshots.get(self._token, [])
        surplus = [each.job_id for each in shown if each.job_id != self._job_id]
        if surplus:
            self._loop.cluster.cancel(surplus)
        for each in shown:
            if each.job_id == self._job_id:
                return each
        return self._loop.cluster.look_up({self._job_id: self._token}).get(self._job_id)

    def _tell(self, snapshot: JobSnapshot, outcome: Outcome) -> None:
        place = f" on {snapshot.node_list}" if snapshot.node_list else ""
        line = f"{snapshot.state}: the job {outcome.sentence}{place}"
        if line != self._told:
            self._loop.tell(line)
            self._told = line

    def _refuse_to_wait_for_ever(self, snapshot: JobSnapshot) -> None:
        sentence = never_starts(snapshot.reason) if snapshot.state == "PENDING" else None
        self._never_looks = self._never_looks + 1 if sentence else 0
        if sentence and self._never_looks == NEVER_AFTER_LOOKS:
            self._never = sentence
            self._cancel(sentence)

    def _heed_stop(self) -> None:
        reason = self._loop.stop()
        if reason and not self._cancel_reason:
            self._cancel(reason)

    def _cancel(self, reason: str) -> None:
        self._loop.tell(f"cancelling: {reason}")
        self._cancel_reason = reason
        _cancel(self._loop, [self._job_id])


def _judge(order: Order, ending: _Ending, directory: Path) -> Judgement:
    if ending.never:
        return Judgement(Verdict.ERRORED, Cause.TEST, ending.never)
    return judge(
        EndedRun(
            test=order.test,
            params=order.params,
            token=order.token,
            resource_class=order.hardware.resource_class,
            outcome=ending.outcome,
            exit_code=ending.snapshot.exit_code if ending.snapshot else None,
            requested_nodes=order.context.nodelist or (),
            directory=directory,
            iterations=order.context.iterations,
            cancel_reason=ending.cancel_reason,
        )
    )
