"""What is shown of each node now, by test: what pages read and acceptance rests on."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from operator import attrgetter

from django.db import models

from burnin.hardware_tests.workload import is_met
from burnin.models.of_workload import OfWorkload
from burnin.models.result import TestResult
from burnin.models.set_sql import SetWriter
from burnin.states import Verdict
from fleet.models import Node

# Two couriers may write at once; an older run that is judged late replaces nothing newer.
_NEWER_WINS = """ON CONFLICT (node_id, slug, digest) DO UPDATE SET
    result_id = excluded.result_id, verdict = excluded.verdict,
    started_at = excluded.started_at, finished_at = excluded.finished_at,
    judged_at = excluded.judged_at, identity = excluded.identity
    WHERE excluded.started_at >= burnin_latestresult.started_at"""


class LatestResultManager(models.Manager["LatestResult"]):
    """Conclusive results come in with the transaction that judges, and put older ones away."""

    def record(self, found: Sequence[LatestResult]) -> None:
        """Take in what was shown, given in any order, in a fixed number of queries.

        A pass of which nobody knows what it was asked for shows nothing.
        """
        found = [each for each in found if each.digest or not each.passed]
        read = self.filter(
            node__in={each.node_id for each in found}, slug__in={each.slug for each in found}
        )
        there: dict[tuple[int, str], list[LatestResult]] = defaultdict(list)
        for row in read:
            there[row.node_id, row.slug].append(row)
        for row in sorted(found, key=attrgetter("started_at")):
            _take_in(row, there[row.node_id, row.slug])
        kept = [row for rows in there.values() for row in rows]
        if gone := {row.pk for row in read} - {row.pk for row in kept}:
            self.filter(pk__in=gone).delete()
        new = sorted((row for row in kept if row.pk is None), key=_key)
        SetWriter(self.model, self.db).insert([row.columns() for row in new], end=_NEWER_WINS)


def _take_in(new: LatestResult, there: list[LatestResult]) -> None:
    if any(old.started_at > new.started_at and old.outdoes(new) for old in there):
        return
    there[:] = [old for old in there if old.started_at > new.started_at or not new.outdoes(old)]
    there.append(new)


def _key(row: LatestResult) -> tuple[int, str, str]:
    return row.node_id, row.slug, row.digest


class LatestResult(OfWorkload):
    """A conclusive result that nothing newer has outdone.

    A pass outdoes what was asked for as much or less; anything else outdoes every pass of its
    test. So a node has the newest result of each test, and besides older passes of more, and
    failures of more, which no lesser pass answers.
    """

    node = models.ForeignKey(Node, on_delete=models.CASCADE, related_name="latest_results")
    slug = models.CharField(max_length=63)
    result = models.ForeignKey(TestResult, on_delete=models.CASCADE)
    verdict = models.CharField(max_length=12)
    started_at = models.DateTimeField(help_text="Of the run: an operation after it stales it.")
    finished_at = models.DateTimeField(null=True, blank=True, help_text="Of the run.")
    judged_at = models.DateTimeField()
    identity = models.JSONField(default=dict, help_text="Who the node said it was.")

    objects = LatestResultManager()

    class Meta:
        ordering = ("node", "slug", "-started_at")
        constraints = (
            models.UniqueConstraint(
                fields=("node", "slug", "digest"), name="burnin_one_latest_per_workload"
            ),
        )

    def __str__(self) -> str:
        return f"{self.slug} on {self.node}: {self.verdict}"

    @property
    def passed(self) -> bool:
        return self.verdict == Verdict.PASSED

    @property
    def shown_at(self) -> datetime:
        """When it was shown: evidence grows old from then on."""
        return self.finished_at or self.judged_at

    def outdoes(self, older: LatestResult) -> bool:
        """Say whether an older result of the same test and node is worth nothing beside this."""
        if self.digest == older.digest or (older.passed and not older.digest):
            return True
        return is_met(older.workload, self.workload) if self.passed else older.passed

    def columns(self) -> dict[str, object]:
        return {
            field.attname: getattr(self, field.attname)
            for field in self._meta.concrete_fields
            if not field.primary_key
        }
