"""One test on one set of nodes, and every Slurm job that carried it."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.db import models, transaction
from django.db.models import Q

from burnin.models.event import TestRunEvent
from burnin.models.job import CountKey, Job, JobCount, JobNode
from burnin.models.set_sql import Change, Condition, Row, SetWriter
from burnin.models.text import storable
from burnin.states import NEXT, Cause, RunState, Verdict
from fleet.models import Node, Site


def choices_of(values: type[RunState] | type[Verdict] | type[Cause]) -> list[tuple[str, str]]:
    return [(each.value, each.value or "none") for each in values]


LONGEST_NOTE = 2000
MEMBERS_AT_ONCE = 10_000  # as many as one query can name on either database


class IllegalMove(ValueError):
    """No run may go from the one state to the other: a defect of the caller."""

    def __init__(self, before: RunState, after: RunState) -> None:
        super().__init__(f"a run cannot go from {before} to {after}")


class TestRunManager(models.Manager["TestRun"]):
    """Runs, and the only ways to change where they stand: nothing else writes `state`.

    A move is one transaction: a conditional UPDATE with the source state in its WHERE, events
    and counters. A late second courier changes nothing, and misses its ids in the answer.
    """

    __test__ = False

    def plan(
        self, runs: Sequence[TestRun], nodes: Mapping[uuid.UUID, Sequence[int]], *, now: datetime
    ) -> None:
        """Create planned runs. `nodes` holds each run's node ids, in the order of its node list."""
        jobs = {run.id: run.job_id for run in runs}
        members = [
            RunNode(run_id=run_id, job_id=jobs[run_id], node_id=node_id, position=position)
            for run_id, node_ids in nodes.items()
            for position, node_id in enumerate(node_ids)
        ]
        with transaction.atomic(using=self.db):
            self.bulk_create(runs)
            RunNode.objects.using(self.db).bulk_create(members)
            expected = Counter((each.job_id, each.node_id) for each in members)
            JobNode.objects.db_manager(self.db).expect(expected)
            self._tell([(run.id, "") for run in runs], "", RunState.PLANNED, now)
            self._count(Counter((run.job_id, run.stage, RunState.PLANNED.value) for run in runs))

    def set_apart(
        self, nodes: Mapping[uuid.UUID, Sequence[int]], *, now: datetime
    ) -> dict[uuid.UUID, int]:
        """Take nodes out of planned runs, each into a run of its own; return these with the node.

        What a job expects of a node stays as it is. Nobody may dispatch the runs meanwhile.
        """
        leaving = {run_id: set(node_ids) for run_id, node_ids in nodes.items() if node_ids}
        if not leaving:
            return {}
        runs = self.in_bulk(leaving)
        members = RunNode.objects.using(self.db).filter(run_id__in=leaving)
        alone = [
            (_like(runs[each.run_id]), each)
            for each in members.order_by("position")
            if each.node_id in leaving[each.run_id]
        ]
        with transaction.atomic(using=self.db):
            self.bulk_create(run for run, _ in alone)
            rows = [{"id": each.pk, "run_id": run.id, "position": 0} for run, each in alone]
            SetWriter(RunNode, self.db).update(rows, Change(own=("run_id", "position")))
            self._tell([(run.id, "") for run, _ in alone], "", RunState.PLANNED, now)
            self._count(Counter((run.job_id, run.stage, run.state) for run, _ in alone))
        return {run.id: each.node_id for run, each in alone}

    def move(
        self,
        run_ids: Iterable[uuid.UUID],
        before: RunState,
        after: RunState,
        *,
        now: datetime,
        note: str = "",
        **changes: Any,
    ) -> list[uuid.UUID]:
        """Move the runs that are in `before`, set `changes` on each, and return their ids."""
        each = dict.fromkeys(run_ids, note)
        rows = [{"id": run_id} for run_id in each]
        return self._move(rows, before, after, now=now, notes=each, constants=changes)

    def move_each(
        self,
        changes: Mapping[uuid.UUID, Row],
        before: RunState,
        after: RunState,
        *,
        now: datetime,
        notes: Mapping[uuid.UUID, str] | None = None,
    ) -> list[uuid.UUID]:
        """Move like `move`, where each run has values of its own, all for the same fields."""
        rows = [{"id": run_id, **own} for run_id, own in changes.items()]
        return self._move(rows, before, after, now=now, notes=notes or {}, constants={})

    def claim(
        self, run_ids: Iterable[uuid.UUID], state: RunState, *, for_: timedelta, now: datetime
    ) -> list[TestRun]:
        """Take those runs in `state` that nobody carries; for that long others leave them alone.

        A move ends the claim; whoever cuts it short otherwise sets `in_hand` back.
        """
        rows = [{"id": run_id} for run_id in dict.fromkeys(run_ids)]
        free = Condition(
            "state = %s AND (carried_until IS NULL OR carried_until <= %s)",
            (("state", state.value), ("carried_until", now)),
        )
        claim = {"carried_until": now + for_, "in_hand": True}
        change = Change(free, constants=claim, skip_locked=True)
        with transaction.atomic(using=self.db):
            claimed = [found[0] for found in SetWriter(self.model, self.db).update(rows, change)]
        return list(self.filter(pk__in=claimed).select_related("job", "site"))

    def prolong(
        self, run_ids: Iterable[uuid.UUID], held_until: datetime, *, until: datetime
    ) -> None:
        """Go on carrying those runs that are still held as they were claimed."""
        self._change_held(run_ids, held_until, {"carried_until": until})

    def let_go(self, run_ids: Iterable[uuid.UUID], held_until: datetime) -> None:
        """Have the claim of those runs that are still held run out without suspicion."""
        self._change_held(run_ids, held_until, {"in_hand": False})

    def _change_held(
        self, run_ids: Iterable[uuid.UUID], held_until: datetime, constants: Row
    ) -> None:
        rows = [{"id": run_id} for run_id in dict.fromkeys(run_ids)]
        held = Condition("carried_until = %s", (("carried_until", held_until),))
        SetWriter(self.model, self.db).update(rows, Change(held, constants=constants))

    def _move(
        self,
        rows: Sequence[Row],
        before: RunState,
        after: RunState,
        *,
        now: datetime,
        notes: Mapping[uuid.UUID, str],
        constants: Row,
    ) -> list[uuid.UUID]:
        if after not in NEXT[before]:
            raise IllegalMove(before, after)
        change = Change(
            condition=Condition("state = %s", (("state", before.value),)),
            constants={
                **constants,
                "state": after.value,
                "moved_at": now,
                "carried_until": None,
                "in_hand": False,
            },
            own=tuple(name for name in (rows[0] if rows else ()) if name != "id"),
            returning=("id", "job_id", "stage", "verdict"),
        )
        with transaction.atomic(using=self.db):
            moved = SetWriter(self.model, self.db).update(rows, change)
            self._tell([(run[0], notes.get(run[0], "")) for run in moved], before, after, now)
            self._count(_deltas(moved, before, after))
            if after is RunState.JUDGED:
                self._settle({run[0]: run[3] for run in moved})
        return [run[0] for run in moved]

    def _tell(
        self, notes: Sequence[tuple[uuid.UUID, str]], before: str, after: str, now: datetime
    ) -> None:
        told = {"at": now, "before": str(before), "after": str(after)}
        writer = SetWriter(TestRunEvent, self.db)
        if len({note for _, note in notes}) == 1:  # as of most moves; half the cost
            shared = {**told, "note": storable(notes[0][1], limit=LONGEST_NOTE)}
            writer.insert([{"run_id": run_id} for run_id, _ in notes], constants=shared)
            return
        rows = [{"run_id": run, "note": storable(note, limit=LONGEST_NOTE)} for run, note in notes]
        writer.insert(rows, constants=told)

    def _count(self, deltas: Mapping[CountKey, int]) -> None:
        JobCount.objects.db_manager(self.db).add(deltas)

    def _settle(self, verdicts: Mapping[uuid.UUID, str]) -> None:
        ids = sorted(verdicts)
        members = RunNode.objects.using(self.db).order_by()
        found = (
            row
            for start in range(0, len(ids), MEMBERS_AT_ONCE)
            for row in members.filter(run_id__in=ids[start : start + MEMBERS_AT_ONCE]).values_list(
                "job_id", "node_id", "run_id"
            )
        )
        outcomes = [(job, node, verdicts[run]) for job, node, run in found]
        JobNode.objects.db_manager(self.db).settle(outcomes)


def _like(run: TestRun) -> TestRun:
    return TestRun(
        job_id=run.job_id,
        site_id=run.site_id,
        stage=run.stage,
        step=run.step,
        slug=run.slug,
        rerun_of_id=run.rerun_of_id,
    )


def _deltas(
    moved: Sequence[tuple[Any, ...]], before: RunState, after: RunState
) -> Mapping[CountKey, int]:
    deltas: Counter[CountKey] = Counter()
    for (job_id, stage, verdict), count in Counter(run[1:] for run in moved).items():
        deltas[job_id, stage, before.value] -= count
        deltas[job_id, stage, verdict or after.value] += count
    return deltas


class TestRun(models.Model):
    """One test on its nodes. `state` says whether it ran, `verdict` whether the hardware passed."""

    __test__ = False

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    # Every index costs each move; those on job and site begin the two below.
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="runs", db_index=False)
    site = models.ForeignKey(Site, on_delete=models.PROTECT, related_name="runs", db_index=False)
    stage = models.PositiveSmallIntegerField()
    step = models.PositiveSmallIntegerField(help_text="Position in the job's frozen steps.")
    slug = models.CharField(max_length=63)
    state = models.CharField(
        max_length=10, choices=choices_of(RunState), default=RunState.PLANNED.value
    )
    verdict = models.CharField(max_length=12, choices=choices_of(Verdict), blank=True, default="")
    cause = models.CharField(max_length=14, choices=choices_of(Cause), blank=True, default="")
    reason = models.CharField(max_length=2000, blank=True)
    waits_because = models.CharField(max_length=500, blank=True)
    attempt_number = models.PositiveSmallIntegerField(default=0, help_text="0: none yet.")
    rerun_of = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, blank=True)
    cancel_reason = models.CharField(max_length=1000, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)
    moved_at = models.DateTimeField(auto_now_add=True, help_text="When `state` last changed.")
    carried_until = models.DateTimeField(
        null=True, blank=True, help_text="A worker has claimed it until then."
    )
    in_hand = models.BooleanField(
        default=False,
        help_text="Claimed, and not let go of: if the claim ran out, its worker is gone.",
    )

    objects = TestRunManager()

    class Meta:
        ordering = ("created_at",)
        indexes = (
            models.Index(fields=("site", "state", "created_at")),
            models.Index(fields=("job", "stage", "state")),
        )
        constraints = (
            models.CheckConstraint(
                condition=(Q(state=RunState.JUDGED.value) & ~Q(verdict=""))
                | (~Q(state=RunState.JUDGED.value) & Q(verdict="")),
                name="burnin_a_run_has_a_verdict_if_and_only_if_judged",
            ),
            models.CheckConstraint(
                condition=Q(state__in=[RunState.PLANNED.value, RunState.JUDGED.value])
                | Q(attempt_number__gte=1),
                name="burnin_a_dispatched_run_has_an_attempt",
            ),
            models.CheckConstraint(
                condition=Q(state__in=[each.value for each in RunState]),
                name="burnin_a_run_is_in_a_known_state",
            ),
        )

    def __str__(self) -> str:
        return f"{self.slug} {str(self.id)[:8]}"


class RunNode(models.Model):
    """A node that a run is on, in the order of its node list."""

    run = models.ForeignKey(TestRun, on_delete=models.CASCADE, related_name="members")
    # As the run says: what a job found on a page of nodes is then one range of an index.
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="+", db_index=False)
    node = models.ForeignKey(Node, on_delete=models.PROTECT, related_name="run_memberships")
    position = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("run", "position")
        constraints = (
            models.UniqueConstraint(fields=("run", "node"), name="burnin_node_once_per_run"),
        )
        indexes = (models.Index(fields=("job", "node"), name="burnin_runs_of_a_jobs_node"),)

    def __str__(self) -> str:
        return f"{self.node} in {self.run_id}"
