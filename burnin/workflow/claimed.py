"""Finished runs that a worker has in hand, until each is judged or let go of."""

import logging
import uuid
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import F, Q

from burnin.models import Attempt, RunNode, TestRun
from burnin.models.text import storable
from burnin.states import RunState
from burnin.workflow.conclude import Ended, give_up
from burnin.workflow.gather import Gathered
from burnin.workflow.verdicts import Conclusion, write_conclusions
from fleet.models import Site

log = logging.getLogger(__name__)

RUNS_PER_BATCH = 100
CARRIED_FOR = timedelta(minutes=3)
LEFT_ALONE_FOR = timedelta(minutes=15)  # others come first
WORKER_ENDS = 10  # that one attempt may bring about
WORKER_ENDED = "a worker ended while it carried this run"


def due_runs(site: Site, now: datetime) -> dict[uuid.UUID, bool]:
    """Return the runs to be collected, and of each whether it is suspect: those come last.

    A worker has come to an end while it had a suspect in hand, among others perhaps.
    """
    free = Q(carried_until=None) | Q(carried_until__lte=now)
    newest = Q(attempts__number=F("attempt_number"))
    suspect = Q(in_hand=True) | Q(attempts__worker_ends__gt=0)
    runs = TestRun.objects.filter(free, newest, site=site, state=RunState.FINISHED)
    found = runs.annotate(is_suspect=suspect).order_by("is_suspect", "created_at")
    return dict(found.values_list("id", "is_suspect")[:RUNS_PER_BATCH])


@dataclass
class Claimed:
    """Runs in hand until then. `known` verdicts are not written yet; `judged` counts the others.

    `ahead` are suspects counted for what may come: it stands once their judging breaks off.
    """

    site: Site
    clock: Callable[[], datetime]
    runs: Sequence[Ended]
    until: datetime
    known: list[Conclusion] = field(default_factory=list)
    judged: int = 0
    ahead: set[uuid.UUID] = field(default_factory=set)

    def write(self) -> None:
        self.judged += write_conclusions(self.site, self.known, self.clock())
        self.ahead -= {each.run.pk for each in self.known}
        self.known = []

    def prolong(self) -> None:
        """Go on carrying those that are neither judged nor put off."""
        until = self.clock() + CARRIED_FOR
        TestRun.objects.prolong([each.run.pk for each in self.runs], self.until, until=until)
        self.until = until

    def write_and_let_go(self, error: Exception) -> None:
        """Something broke off. What cannot be written, even now, stays in hand, so is suspect."""
        try:
            self.write()
        finally:
            kept = {each.run.pk for each in self.known}
            others = [each for each in self.runs if each.run.pk not in kept]
            TestRun.objects.let_go([each.run.pk for each in others], self.until)
            for each in others:
                if each.run.pk in self.ahead:  # it was not its judging
                    why = f"collecting it broke off ({type(error).__name__})"
                    self.put_off(each, for_=LEFT_ALONE_FOR, why=why)

    def put_off(self, ended: Ended, *, for_: timedelta, why: str) -> None:
        """Let go of a run that cannot be judged yet."""
        if ended.run.pk in self.ahead:
            self.ahead.remove(ended.run.pk)
            _count(ended, -1)
        self._set_aside(ended, for_=for_, why=why)

    def count_ahead(self, ended: Ended) -> None:
        self.count(ended, WORKER_ENDED)
        self.ahead.add(ended.run.pk)

    def count(self, ended: Ended, why: str) -> None:
        """Count an end of a worker, if it is not counted ahead, and let others come first."""
        if ended.run.pk in self.ahead:
            self.ahead.remove(ended.run.pk)
        else:
            _count(ended, 1)
        log.warning("run %s: %s", ended.run.pk, counted(ended, why))
        self._set_aside(ended, for_=LEFT_ALONE_FOR, why=counted(ended, why))

    def give_up(self, ended: Ended, why: str, *, gathered: Gathered | None) -> None:
        self.known.append(give_up(ended, gathered, counted(ended, why)))

    def _set_aside(self, ended: Ended, *, for_: timedelta, why: str) -> None:
        TestRun.objects.filter(pk=ended.run.pk, state=RunState.FINISHED).update(
            carried_until=self.clock() + for_,
            waits_because=storable(why, limit=500),
            in_hand=ended.is_suspect,  # until it is judged
        )


def claim(
    site: Site, run_ids: Iterable[uuid.UUID], *, are_suspect: bool, clock: Callable[[], datetime]
) -> Claimed:
    """Take those in hand that nobody has. A suspect is counted before it can end this worker."""
    now = clock()
    runs = TestRun.objects.claim(run_ids, RunState.FINISHED, for_=CARRIED_FOR, now=now)
    ended = _read(runs, are_suspect=are_suspect)
    hopeless = [each for each in ended if each.attempt.worker_ends >= WORKER_ENDS]
    claimed = Claimed(
        site, clock, [each for each in ended if each not in hopeless], now + CARRIED_FOR
    )
    for each in hopeless:
        claimed.give_up(each, WORKER_ENDED, gathered=None)
    for each in claimed.runs if are_suspect else ():
        claimed.count_ahead(each)
    return claimed


def counted(ended: Ended, why: str) -> str:
    return f"{why}, {ended.attempt.worker_ends} of {WORKER_ENDS} times"


def _count(ended: Ended, more: int) -> None:
    ended.attempt.worker_ends += more
    Attempt.objects.filter(pk=ended.attempt.pk).update(worker_ends=F("worker_ends") + more)


def _read(runs: Sequence[TestRun], *, are_suspect: bool) -> list[Ended]:
    by_id = {run.pk: run for run in runs}
    newest = Attempt.objects.filter(run_id__in=by_id).order_by("number").defer("script", "context")
    attempts = {each.run_id: each for each in newest}
    members: dict[uuid.UUID, list[RunNode]] = {}
    rows = RunNode.objects.filter(run_id__in=by_id).order_by("position")
    for row in rows.select_related("node__resource_class"):
        members.setdefault(row.run_id, []).append(row)
    steps = {(run.job_id, each["position"]): each for run in runs for each in run.job.steps}
    return [
        Ended(
            run=run,
            attempt=attempts[run.pk],
            frozen_step=steps[run.job_id, run.step],
            node_names=tuple(each.node.name for each in members[run.pk]),
            resource_class=members[run.pk][0].node.resource_class.name,
            is_suspect=are_suspect,
        )
        for run in runs
    ]
