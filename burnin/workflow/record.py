"""Takes a site's facts: applies what is new, acknowledges what is known, refuses what is wrong."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from burnin.models import Attempt
from burnin.satellite.messages import (
    Envelope,
    Fact,
    FactAnswer,
    FactBatch,
    Heartbeat,
    JobGone,
    JobSeen,
    LogPart,
    NodesSeen,
    OfAttempt,
    Refusal,
    Relayed,
    SiteChecked,
    SubmitAnswered,
)
from burnin.slurm.states import Meaning, Outcome, never_starts
from burnin.states import RunState
from burnin.workflow import clocks, logs, seen_nodes, site_check, wiring
from burnin.workflow.bells import Bell, Bells, ring_after_commit
from burnin.workflow.ending import LOST, LOST_STATE, ending_of
from burnin.workflow.ledger import Entry, Ledger, NotTaken
from burnin.workflow.sites import alone_at
from fleet.models import Site

log = logging.getLogger(__name__)

ASKED_AGAIN_AFTER = timedelta(seconds=15)  # Slurm took no job, but will
DOUBT_LASTS = timedelta(minutes=5)  # the satellite works on it
# The attempt was given up. If its job shows up after all, reconcile has it ended.
NEVER_SEEN_TO_END = frozenset({"", LOST_STATE})


def record_facts(
    site: Site, batch: FactBatch, *, now: datetime, bells: Bells | None = None
) -> FactAnswer:
    """Apply a batch in one transaction and answer for each of its facts.

    What is refused will never be taken; a replay is acknowledged and changes nothing.
    """
    acknowledged: list[str] = []
    refused: list[Refusal] = []
    skew_s = clocks.skew_s(batch.sent_at, now)
    with alone_at(site):
        site.refresh_from_db()
        ledger = Ledger(site, [e.fact for e in batch.facts if isinstance(e.fact, OfAttempt)], now)
        for envelope in batch.facts:
            try:
                _take(site, envelope.fact, ledger, now, skew_s)
                acknowledged.append(envelope.id)
            except NotTaken as refusal:
                refused.append(_refuse(site, envelope, refusal))
        rings = ledger.write() | _rings_for(batch)
        ring_after_commit(wiring.bells() if bells is None else bells, site, rings)
    return FactAnswer(acknowledged=tuple(acknowledged), refused=tuple(refused))


def _refuse(site: Site, envelope: Envelope, refusal: NotTaken) -> Refusal:
    log.warning("site %s: a %s is refused: %s", site.name, envelope.fact.kind, refusal)
    return Refusal(id=envelope.id, words=str(refusal))


def _rings_for(batch: FactBatch) -> set[Bell]:
    return {Bell.COLLECT} if any(isinstance(e.fact, Relayed) for e in batch.facts) else set()


def _take(site: Site, fact: Fact, ledger: Ledger, now: datetime, skew_s: float | None) -> None:
    match fact:
        case Heartbeat():
            _take_heartbeat(site, fact, now, skew_s)
        case NodesSeen():
            seen_nodes.record(site, fact, now)
        case SiteChecked():
            site_check.record(site, fact, now, skew_s=skew_s)
        case _:
            _take_of_attempt(fact, ledger, now)


def _take_of_attempt(
    fact: SubmitAnswered | JobSeen | JobGone | Relayed | LogPart, ledger: Ledger, now: datetime
) -> None:
    match fact:
        case SubmitAnswered():
            _take_answer(fact, ledger, now)
        case JobSeen():
            _take_sight(fact, ledger, now)
        case JobGone():
            _take_loss(fact, ledger, now)
        case Relayed():
            _take_relay(fact, ledger, now)
        case LogPart():
            logs.write(ledger.entry(fact).attempt.token, fact)


def _take_answer(fact: SubmitAnswered, ledger: Ledger, now: datetime) -> None:
    entry = ledger.entry(fact)
    match fact.answer:
        case "accepted":
            _accept(fact, ledger, entry, now)
        case "refused" | "given_up":
            _take_no(fact, ledger, entry, now)
        case _ if not entry.awaits_answer:
            return  # old news
        case "unknown":
            entry.learn(submission=Attempt.Submission.UNKNOWN)
            ledger.wait(entry, f"it is not known yet whether Slurm took the job: {fact.words}")
            ledger.carry(entry, DOUBT_LASTS)
        case _:
            ledger.wait(entry, f"Slurm takes no more jobs for now: {fact.words or 'no reason'}")
            ledger.carry(entry, ASKED_AGAIN_AFTER)


def _accept(fact: SubmitAnswered, ledger: Ledger, entry: Entry, now: datetime) -> None:
    if fact.job_id is None:
        raise NotTaken(f"attempt {entry.attempt} was accepted, but without a job id")
    entry.adopt(fact.job_id, now)
    if entry.awaits_answer:
        ledger.wait(entry, "")
    entry.reach(RunState.SUBMITTED, f"Slurm job {fact.job_id}")


def _take_no(fact: SubmitAnswered, ledger: Ledger, entry: Entry, now: datetime) -> None:
    if entry.attempt.slurm_job_id:
        raise NotTaken(
            f"attempt {entry.attempt} is Slurm job {entry.attempt.slurm_job_id}: "
            f"it cannot have been {fact.answer.replace('_', ' ')}"
        )
    if not entry.awaits_answer:
        return None
    if fact.answer == "given_up":
        entry.learn(ended_at=now)
        return entry.never_ran(fact.words or "nobody knows whether Slurm took the job")
    entry.learn(submission=Attempt.Submission.REFUSED, ended_at=now)
    words = f"Slurm refused the job: {fact.words or 'it gave no reason'}"
    if not entry.run.cancel_reason and ledger.allowances.has_another(entry.run):
        return entry.plan_again(words)
    return entry.never_ran(words)


def _take_sight(fact: JobSeen, ledger: Ledger, now: datetime) -> None:
    entry = ledger.entry(fact)
    entry.adopt(fact.job_id, now)
    if entry.attempt.ended_at is not None and entry.attempt.slurm_state not in NEVER_SEEN_TO_END:
        return entry.learn(observed_at=now)
    outcome = ending_of(fact.state, fact.reason, source=fact.source)
    entry.learn(
        slurm_state=fact.state,
        slurm_reason=fact.reason,
        node_list=fact.node_list,
        exit_code=fact.exit_code,
        derived_exit_code=fact.derived_exit_code,
        observed_at=now,
        ended_at=now if outcome.final else None,
        started_at=entry.attempt.started_at or _start(outcome, now),
    )
    ledger.wait(entry, _why_it_waits(fact, outcome, entry))
    entry.reach(_place(outcome), fact.state)
    return None


def _start(outcome: Outcome, now: datetime) -> datetime | None:
    return now if outcome.meaning in {Meaning.RUNNING, Meaning.FINISHING} else None


def _place(outcome: Outcome) -> RunState:
    """Return the state that a run has reached at least when Slurm shows this."""
    if outcome.final:
        return RunState.FINISHED
    if outcome.meaning in {Meaning.RUNNING, Meaning.FINISHING}:
        return RunState.RUNNING
    return RunState.SUBMITTED


def _why_it_waits(fact: JobSeen, outcome: Outcome, entry: Entry) -> str:
    if outcome.meaning not in {Meaning.WAITING, Meaning.UNKNOWN} or entry.state in {
        RunState.RUNNING,
        RunState.FINISHED,
    }:
        return ""
    return never_starts(fact.reason) or f"the job {outcome.sentence}"


def _take_loss(fact: JobGone, ledger: Ledger, now: datetime) -> None:
    entry = ledger.entry(fact)
    entry.adopt(fact.job_id, now)
    if entry.attempt.ended_at is None:
        entry.learn(slurm_state=LOST_STATE, slurm_reason="", ended_at=now, observed_at=now)
    ledger.wait(entry, "")
    entry.reach(RunState.FINISHED, f"the job {LOST.sentence}")


def _take_relay(fact: Relayed, ledger: Ledger, now: datetime) -> None:
    """The satellite has brought what it could; collecting is due at once."""
    entry = ledger.entry(fact)
    entry.learn(relay_words=fact.words, relayed_at=None if fact.words else now)
    if entry.state is RunState.FINISHED:
        ledger.carry(entry, timedelta(0))


def _take_heartbeat(site: Site, fact: Heartbeat, now: datetime, skew_s: float | None) -> None:
    """It is our clock that counts: a site's may be wrong, and by how much is kept."""
    reach = {**fact.model_dump(mode="json", exclude={"kind"}), clocks.SKEW: skew_s}
    Site.objects.filter(pk=site.pk).update(heartbeat_at=now, reach=reach)
