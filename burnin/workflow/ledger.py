"""What a batch of facts makes of its attempts: worked out in memory, written at once."""

from __future__ import annotations

import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import pairwise
from typing import Any

from burnin.models import Attempt, TestRun
from burnin.models.set_sql import Change, SetWriter
from burnin.models.text import storable
from burnin.models.verdicts import RunVerdict, record_verdicts
from burnin.satellite.messages import OfAttempt
from burnin.states import Cause, RunState, Verdict
from burnin.workflow import retry
from burnin.workflow.bells import Bell
from fleet.models import Site

LEARNED = (
    "submission",
    "slurm_job_id",
    "slurm_state",
    "slurm_reason",
    "node_list",
    "exit_code",
    "derived_exit_code",
    "submitted_at",
    "started_at",
    "ended_at",
    "observed_at",
    "relayed_at",
    "relay_words",
)
LONGEST: dict[str, int] = {
    name: limit
    for name in LEARNED
    if (limit := getattr(Attempt._meta.get_field(name), "max_length", None)) is not None
}
RANK = {state: rank for rank, state in enumerate(RunState)}


class NotTaken(Exception):
    """The fact is refused and changes nothing. The message says why."""


@dataclass
class Entry:
    """One attempt, its run's place, and what the facts of this batch change about both."""

    attempt: Attempt
    run: TestRun
    state: RunState
    path: list[RunState] = field(default_factory=list)
    note: str = ""
    reason: str = ""
    is_touched: bool = False

    @property
    def carries_the_run(self) -> bool:
        """Say whether the run goes the way of this attempt: it is the newest, and not over."""
        is_newest = self.attempt.number == self.run.attempt_number
        return is_newest and self.state not in {RunState.PLANNED, RunState.JUDGED}

    @property
    def awaits_answer(self) -> bool:
        return self.carries_the_run and self.state is RunState.DISPATCHED

    def learn(self, **values: Any) -> None:
        """Note what is now known of the attempt."""
        for name, value in values.items():
            limit = LONGEST.get(name)
            setattr(self.attempt, name, storable(value, limit=limit) if limit else value)
        self.is_touched = True

    def adopt(self, job_id: str, now: datetime) -> None:
        """Take the Slurm job as the attempt's. Raises NotTaken if it has another one."""
        known = self.attempt.slurm_job_id
        if known and known != job_id:
            raise NotTaken(f"attempt {self.attempt} is Slurm job {known}, not {job_id}")
        if not known:
            self.learn(
                slurm_job_id=job_id, submission=Attempt.Submission.ACCEPTED, submitted_at=now
            )

    def reach(self, target: RunState, note: str = "") -> None:
        """Move the run forward to `target`, never back. A judged run stays as it is."""
        if not self.carries_the_run:
            return
        if self.state is RunState.DISPATCHED and RANK[target] > RANK[RunState.SUBMITTED]:
            self._step(RunState.SUBMITTED, note)
        if RANK[target] > RANK[self.state]:
            self._step(target, note)

    def never_ran(self, reason: str) -> None:
        """Judge a run that Slurm never took: skipped if nobody wanted it any more."""
        if self.awaits_answer:
            self.reason = self.run.cancel_reason or reason
            self._step(RunState.JUDGED, reason)

    def plan_again(self, reason: str) -> None:
        """Let a run that Slurm never took wait for another attempt."""
        if self.awaits_answer:
            self.reason = retry.words(self.attempt.number, reason)
            self._step(RunState.PLANNED, self.reason)

    def _step(self, target: RunState, note: str) -> None:
        self.path.append(target)
        self.state, self.note = target, note


class Ledger:
    """The attempts of one site that a batch speaks of, and the runs that carry them."""

    def __init__(self, site: Site, spoken_of: Iterable[OfAttempt], now: datetime) -> None:
        self._now = now
        self.allowances = retry.Allowances()
        self._entries: dict[tuple[str, int], Entry] = {}
        self._waits: dict[uuid.UUID, tuple[Entry, str]] = {}
        self._carried: dict[uuid.UUID, tuple[Entry, RunState, datetime]] = {}
        run_ids = {uuid.UUID(each.run_id) for each in spoken_of}
        attempts = Attempt.objects.filter(run_id__in=run_ids, run__site=site)
        # The same in every transaction of this site, which is alone here; scripts are long.
        for each in attempts.select_related("run").defer("script", "context"):
            key = (str(each.run_id), each.number)
            self._entries[key] = Entry(each, each.run, RunState(each.run.state))

    def entry(self, of: OfAttempt) -> Entry:
        """Return the attempt's entry. Raises NotTaken for what this site has nothing to do with."""
        found = self._entries.get((of.run_id, of.attempt))
        if found is None:
            raise NotTaken(f"this site has no run {of.run_id} with an attempt {of.attempt}")
        return found

    def wait(self, entry: Entry, because: str) -> None:
        """Note why the run waits; "" when it does not."""
        text = storable(because, limit=500)
        if entry.carries_the_run and entry.run.waits_because != text:
            entry.run.waits_because = text
            self._waits[entry.run.pk] = (entry, text)

    def carry(self, entry: Entry, for_: timedelta) -> None:
        """Let nobody take the run up before `for_` is over, unless it moves on."""
        if entry.carries_the_run:
            self._carried[entry.run.pk] = (entry, entry.state, self._now + for_)

    def write(self) -> set[Bell]:
        """Write everything, set-based, and return the bells it rings."""
        self._write_attempts()
        self._write_moves()
        waits = {pk: text for pk, (entry, text) in self._waits.items() if entry.carries_the_run}
        self._write_runs("waits_because", waits)
        carried = self._carried.values()
        unmoved = {entry.run.pk: at for entry, state, at in carried if entry.state is state}
        self._write_runs("carried_until", unmoved, in_hand=False)
        moved = {state for each in self._entries.values() for state in each.path}
        bells = {Bell.COLLECT} if RunState.FINISHED in moved else set()
        return bells | ({Bell.DISPATCH} if moved & {RunState.JUDGED, RunState.PLANNED} else set())

    def _write_attempts(self) -> None:
        touched = [each.attempt for each in self._entries.values() if each.is_touched]
        rows = [
            {"id": each.pk, **{name: getattr(each, name) for name in LEARNED}} for each in touched
        ]
        SetWriter(Attempt, "default").update(rows, Change(own=LEARNED))

    def _write_moves(self) -> None:
        """Move by source and target. Sources come in their order: a run may make several steps."""
        moves: dict[tuple[RunState, RunState], list[Entry]] = {}
        for entry in self._entries.values():
            states = [RunState(entry.run.state), *entry.path]
            for before, after in pairwise(states):
                moves.setdefault((before, after), []).append(entry)
        for before, after in sorted(moves, key=lambda move: (RANK[move[0]], RANK[move[1]])):
            self._move(moves[before, after], before, after)

    def _move(self, entries: list[Entry], before: RunState, after: RunState) -> None:
        if after is RunState.JUDGED:
            record_verdicts(map(_verdict, entries), before=before, now=self._now)
            return
        rows = {entry.run.pk: _own_values(entry, after) for entry in entries}
        notes = {entry.run.pk: entry.note for entry in entries if entry.note}
        TestRun.objects.move_each(rows, before, after, now=self._now, notes=notes)

    def _write_runs(self, name: str, values: dict[uuid.UUID, Any], **alike: Any) -> None:
        rows = [{"id": run_id, name: value} for run_id, value in values.items()]
        SetWriter(TestRun, "default").update(rows, Change(own=(name,), constants=alike))


def _own_values(entry: Entry, after: RunState) -> dict[str, Any]:
    if after is RunState.PLANNED:
        return {"waits_because": storable(entry.reason, limit=500)}
    return {}


def _verdict(entry: Entry) -> RunVerdict:
    errored, skipped = (Verdict.ERRORED, Cause.INFRASTRUCTURE), (Verdict.SKIPPED, Cause.NONE)
    verdict, cause = skipped if entry.run.cancel_reason else errored
    return RunVerdict(entry.run.pk, verdict, cause, entry.reason, entry.attempt.pk)
