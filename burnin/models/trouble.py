"""What is wrong now: of each test on each node, what is no good and nothing newer has answered."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import models

from burnin.hardware_tests.workload import Workload, is_met
from burnin.models.latest import LatestResult
from burnin.models.of_workload import OfWorkload, columns_of
from burnin.models.run import TestRun, choices_of
from burnin.models.set_sql import SetWriter
from burnin.models.signature import LONGEST_SIGNATURE, signature
from burnin.states import Cause, Verdict
from fleet.models import Node

BAD = frozenset({Verdict.FAILED, Verdict.ERRORED, Verdict.INCONCLUSIVE})

# Who is judged late has no say against what began later, and an error says nothing of what a
# failure or a node that vanished has shown: else a re-run that could not run would clear it.
_NEWER_WINS = """ON CONFLICT (node_id, slug, digest) DO UPDATE SET
    run_id = excluded.run_id, verdict = excluded.verdict, cause = excluded.cause,
    reason = excluded.reason, signature = excluded.signature,
    began_at = excluded.began_at, judged_at = excluded.judged_at
    WHERE excluded.began_at >= burnin_trouble.began_at
    AND (excluded.verdict <> 'errored' OR burnin_trouble.verdict = 'errored')"""


@dataclass(frozen=True)
class Outcome:
    """What a run came to for one of its nodes. `workload` is what it was asked to do, if known."""

    node_id: int
    node_name: str
    slug: str
    run_id: uuid.UUID
    verdict: Verdict
    cause: str
    reason: str
    began_at: datetime
    judged_at: datetime
    workload: Workload | None

    def answers(self, trouble: Trouble) -> bool:
        """Say whether this takes the trouble away.

        Whatever comes later answers an error. A failure, or that the node vanished, is answered
        by a pass alone, of a run that was asked to do as much.
        """
        if (self.node_id, self.slug) != (trouble.node_id, trouble.slug):
            return False
        if self.began_at < trouble.began_at:
            return False
        if trouble.verdict == Verdict.ERRORED:
            return True
        return self.verdict is Verdict.PASSED and is_met(trouble.workload, self.workload)


class TroubleManager(models.Manager["Trouble"]):
    """Trouble comes and goes in the transaction that judges."""

    def record(self, outcomes: Sequence[Outcome]) -> None:
        """Take away what newer results have answered, and note what is bad."""
        gone = [
            trouble.pk
            for trouble in self.filter(node__in={each.node_id for each in outcomes})
            if any(each.answers(trouble) for each in outcomes)
        ]
        if gone:
            self.filter(pk__in=gone).delete()
        self._note([each for each in outcomes if each.verdict in BAD])

    def _note(self, bad: Iterable[Outcome]) -> None:
        newest: dict[tuple[int, str, str], Outcome] = {}
        for each in sorted(bad, key=_weight):
            digest = each.workload.digest if each.workload else ""
            newest[each.node_id, each.slug, digest] = each
        passes = LatestResult.objects.filter(
            node__in={node_id for node_id, _, _ in newest}, verdict=Verdict.PASSED
        )
        of_test: dict[tuple[int, str], list[LatestResult]] = defaultdict(list)
        for shown in passes:
            of_test[shown.node_id, shown.slug].append(shown)
        rows = [
            self._row(each)
            for (node_id, slug, _), each in sorted(newest.items())
            if not any(_came_later(shown, each) for shown in of_test[node_id, slug])
        ]
        SetWriter(self.model, self.db).insert(rows, end=_NEWER_WINS)

    def _row(self, bad: Outcome) -> dict[str, Any]:
        row = {**vars(bad), "verdict": bad.verdict.value}
        name, workload = row.pop("node_name"), row.pop("workload")
        return {**row, **columns_of(workload), "signature": signature(bad.reason, (name,))}


def _weight(bad: Outcome) -> tuple[bool, datetime]:
    return bad.verdict is not Verdict.ERRORED, bad.began_at


def _came_later(shown: LatestResult, bad: Outcome) -> bool:
    """Say whether a pass had answered what is judged only now."""
    is_enough = bad.verdict is Verdict.ERRORED or is_met(bad.workload, shown.workload)
    return shown.started_at > bad.began_at and is_enough


class Trouble(OfWorkload):
    """A failed, errored or inconclusive result that nothing newer has answered.

    A pass of the same test on the node, asked for as much, takes it away, and so does an
    operation that spoils it; an error gives way to whatever comes later.
    There are as many rows as there is trouble, however long the history is.
    """

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="troubles")
    slug = models.CharField(max_length=63)
    run = models.ForeignKey(TestRun, on_delete=models.CASCADE, related_name="+")
    verdict = models.CharField(max_length=12, choices=choices_of(Verdict))
    cause = models.CharField(max_length=14, choices=choices_of(Cause), blank=True)
    reason = models.CharField(max_length=2000)
    signature = models.CharField(max_length=LONGEST_SIGNATURE)
    began_at = models.DateTimeField(help_text="Of the run; when it was judged if it never began.")
    judged_at = models.DateTimeField()

    objects = TroubleManager()

    class Meta:
        ordering = ("node", "slug")
        constraints = (
            models.UniqueConstraint(
                fields=("node", "slug", "digest"), name="burnin_one_trouble_per_workload"
            ),
        )
        indexes = (
            models.Index(fields=("verdict", "slug", "signature"), name="burnin_same_trouble"),
        )

    def __str__(self) -> str:
        return f"{self.slug} on {self.node}: {self.verdict}"
