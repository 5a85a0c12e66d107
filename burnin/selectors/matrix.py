"""Nodes of a job against its tests: a page of them costs the same whatever the history."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import itemgetter
from typing import NamedTuple

from django.db.models import QuerySet
from django.db.models.functions import Substr

from burnin.hardware_tests.registry import UnknownSlug, get_test_class
from burnin.models import Job, JobNode, MetricRow, RunNode, TestResult
from burnin.selectors.chunks import chunks
from burnin.states import Verdict
from burnin.workflow.steps import Step, UnreadableStep, steps_of

ROWS_AT_ONCE = 500
REASON_SHOWN = 300
FIRST = 1  # the primary metric: the number that decides stands first


class Limit(NamedTuple):
    """A bound as a column's head shows it."""

    better: str
    value: float
    unit: str


@dataclass(frozen=True)
class Column:
    """One step of the job. `limit` is the primary metric's, if all classes share one."""

    step: int
    slug: str
    stage: int
    limit: Limit | None


@dataclass(frozen=True)
class Cell:
    """One run of a node. `value` is its primary metric, or the one that failed it.

    It is None if nothing was measured.
    """

    run_id: uuid.UUID
    state: str
    verdict: str
    cause: str
    reason: str
    attempt: int
    moved_at: datetime
    value: float | None = None
    unit: str = ""


@dataclass(frozen=True)
class Row:
    """One node with a cell for each column; None where the job has no run of that test on it."""

    member: JobNode
    cells: tuple[Cell | None, ...]


def columns_of(job: Job) -> list[Column]:
    """Return the job's steps in their order; those of another release without their limits."""
    try:
        steps = steps_of(job.steps)
    except UnreadableStep:
        kept = sorted(job.steps, key=itemgetter("position"))
        return [Column(each["position"], each["slug"], each["stage"], None) for each in kept]
    return [
        Column(step.position, step.slug, step.stage, _limit(step))
        for _, step in sorted(steps.items())
    ]


def rows_of(job: Job, members: Sequence[JobNode], columns: Sequence[Column]) -> list[Row]:
    """Return the cells of these nodes, in three queries."""
    places = {column.step: place for place, column in enumerate(columns)}
    cells = _cells(job, [member.node_id for member in members])
    rows = []
    for member in members:
        row: list[Cell | None] = [None] * len(columns)
        for step, cell in cells.get(member.node_id, ()):
            if step in places:
                row[places[step]] = cell
        rows.append(Row(member, tuple(row)))
    return rows


def every_row(job: Job, members: QuerySet[JobNode], columns: Sequence[Column]) -> Iterator[Row]:
    """Yield the rows of all these nodes, read a few hundred at a time."""
    for chunk in chunks(members.iterator(ROWS_AT_ONCE), ROWS_AT_ONCE):
        yield from rows_of(job, chunk, columns)


def _limit(step: Step) -> Limit | None:
    """Return the limit of the test's first metric; None if the classes have different ones."""
    try:
        first = next(iter(get_test_class(step.slug).metrics_class.declarations()))
    except (UnknownSlug, StopIteration):
        return None
    limits = {
        Limit(bound.better.value, bound.value, bound.unit.value)
        for frozen in step.thresholds.values()
        if (bound := frozen.bounds.get(first)) and bound.value is not None
    }
    return limits.pop() if len(limits) == 1 else None


def _cells(job: Job, node_ids: Sequence[int]) -> Mapping[int, list[tuple[int, Cell]]]:
    found = RunNode.objects.filter(job=job, node_id__in=node_ids).order_by()
    rows = list(
        found.values_list(
            *("node_id", "run__step", "run_id", "run__state", "run__verdict", "run__cause"),
            Substr("run__reason", 1, REASON_SHOWN),
            *("run__attempt_number", "run__moved_at", "run__result__pk"),
        )
    )
    measured = {row[9]: row[4] for row in rows if row[9] is not None}
    values = {**_primary_values(measured), **_failed_values(measured)}
    cells: dict[int, list[tuple[int, Cell]]] = {}
    for node_id, step, *run, result_id in rows:
        cell = Cell(*run, *values.get(result_id, (None, "")))
        cells.setdefault(node_id, []).append((step, cell))
    return cells


def _primary_values(verdicts: Mapping[int, str]) -> dict[int, tuple[float, str]]:
    """Return what each result measured first, by the result's key."""
    found = MetricRow.objects.filter(result_id__in=verdicts, position=FIRST).order_by()
    rows = found.values_list("result_id", "value", "unit")
    return {result_id: (value, unit) for result_id, value, unit in rows}


def _failed_values(verdicts: Mapping[int, str]) -> dict[int, tuple[float, str]]:
    """Return what the first gate measured that does not hold, of the failed results."""
    failed = [key for key, verdict in verdicts.items() if verdict == Verdict.FAILED]
    found = {}
    rows = TestResult.objects.filter(pk__in=failed).order_by().values_list("pk", "evaluation")
    for key, evaluation in rows:
        gates = (gate for gate in evaluation if gate["passed"] is False)
        if (gate := next(gates, None)) and isinstance(gate["value"], int | float):
            found[key] = (gate["value"], gate["unit"])
    return found
