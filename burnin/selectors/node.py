"""One node: what is shown of it, what was done to it, what it measured over time."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from burnin.evidence import Evidence
from burnin.evidence import Standing as Counts
from burnin.models import LatestResult, MetricRow, RunNode, TestResult, TestRun, Trouble
from burnin.models.ground import evidence_lives_for, grounds_of
from burnin.states import RunState, Verdict
from fleet.models import HardwareOperation, Node

LIVE_SHOWN = 20
OPERATIONS_SHOWN = 20
TREND_RESULTS = 30


@dataclass(frozen=True)
class Shown:
    """What a test has shown of the node. `latest` is None where it never came to a conclusion.

    `run_id` is the run that concluded so.
    """

    slug: str
    is_required: bool
    evidence: Evidence
    latest: LatestResult | None
    trouble: Trouble | None
    metric: MetricRow | None
    run_id: uuid.UUID | None

    @property
    def state(self) -> str:
        """The look of the row: the verdict while it counts, else why it does not."""
        if self.latest is not None and self.latest.verdict == Verdict.FAILED:
            return "failed"
        if self.evidence.counts and self.latest is not None:
            return self.latest.verdict
        if self.evidence.standing is Counts.MISSING and self.trouble is not None:
            return self.trouble.verdict
        return self.evidence.standing.value

    @property
    def expires_at(self) -> datetime | None:
        if self.latest is None or not self.evidence.counts or self.state != Verdict.PASSED:
            return None
        return self.latest.shown_at + evidence_lives_for()


@dataclass(frozen=True)
class Point:
    """One result in a trend."""

    at: datetime
    value: float
    verdict: str
    run_id: Any


@dataclass(frozen=True)
class Trend:
    """A metric of one test on the node, oldest first. `limit` is the bound of the newest one."""

    slug: str
    name: str
    label: str
    unit: str
    points: list[Point]
    limit: float | None
    better: str

    @property
    def is_cut(self) -> bool:
        return len(self.points) == TREND_RESULTS


def shown_of(node: Node, now: datetime) -> list[Shown]:
    """Return every required test, then every other that was run, in a fixed number of queries."""
    ground = grounds_of([node])[node.pk]
    troubles = {each.slug: each for each in sorted(ground.troubles, key=_least_first)}
    others = sorted((set(ground.results) | set(troubles)) - set(ground.required.slugs))
    proofs = {slug: ground.proof(slug, now) for slug in [*ground.required.slugs, *others]}
    result_ids = [each.latest.result_id for each in proofs.values() if each.latest]
    metrics, run_ids = _primary_metrics(result_ids), _run_ids(result_ids)
    return [
        Shown(
            slug,
            slug in ground.required.slugs,
            proof.evidence,
            proof.latest,
            troubles.get(slug),
            metrics.get(proof.latest.result_id) if proof.latest else None,
            run_ids.get(proof.latest.result_id) if proof.latest else None,
        )
        for slug, proof in proofs.items()
    ]


def _least_first(trouble: Trouble) -> tuple[int, datetime]:
    order = (Verdict.ERRORED, Verdict.INCONCLUSIVE, Verdict.FAILED)
    return order.index(Verdict(trouble.verdict)), trouble.began_at


def live_runs(node: Node) -> list[TestRun]:
    """Return what is under way or planned on the node, what runs first."""
    rows = RunNode.objects.filter(node=node).exclude(run__state=RunState.JUDGED)
    newest = rows.select_related("run__job__preset").order_by("-run__moved_at")[:LIVE_SHOWN]
    return [each.run for each in newest]


def history_of(node: Node) -> QuerySet[TestRun]:
    """Return every judged run of the node; the result's reason stands on the run."""
    rows = TestRun.objects.filter(members__node=node, state=RunState.JUDGED)
    return rows.select_related("job__preset")


def operations_of(node: Node) -> list[HardwareOperation]:
    rows = HardwareOperation.objects.filter(node=node).select_related("recorded_by")
    return list(rows.order_by("-performed_at", "-pk")[:OPERATIONS_SHOWN])


def trend_choices(shown: Sequence[Shown]) -> list[tuple[str, str, str]]:
    """Return slug, name and label of every metric whose newest value is known, in one query."""
    slugs = {each.latest.result_id: each.slug for each in shown if each.latest is not None}
    rows = MetricRow.objects.filter(result__in=slugs).order_by("result", "position")
    return [
        (slugs[result_id], name, label)
        for result_id, name, label in rows.values_list("result_id", "name", "label")
    ]


def trend_to_open(
    shown: Sequence[Shown], choices: Sequence[tuple[str, str, str]]
) -> tuple[str, str]:
    """Return slug and name of what a reader looks for first: the gate that does not hold.

    Of several failing tests the newest result's; where nothing fails, the first metric there is.
    """
    failing = [each.latest for each in shown if each.state == "failed" and each.latest is not None]
    for latest in sorted(failing, key=lambda each: each.shown_at, reverse=True):
        measured = [name for slug, name, _ in choices if slug == latest.slug]
        broken = _broken_gates(latest.result_id)
        if measured:
            return latest.slug, next((name for name in broken if name in measured), measured[0])
    return choices[0][:2] if choices else ("", "")


def trend_of(node: Node, slug: str, name: str) -> Trend | None:
    """Return how a metric went; None if it was never measured here."""
    rows = MetricRow.objects.filter(node=node, name=name, result__run__slug=slug)
    newest = list(
        rows.select_related("result").order_by("-result__judged_at", "-pk")[:TREND_RESULTS]
    )
    if not newest:
        return None
    gate = _gate(newest[0].result.evaluation, name)
    points = [
        Point(row.result.judged_at, row.value, row.result.verdict, row.result.run_id)
        for row in reversed(newest)
    ]
    return Trend(
        slug=slug,
        name=name,
        label=newest[0].label,
        unit=newest[0].unit,
        points=points,
        limit=gate.get("value"),
        better=str(gate.get("better", "")),
    )


def _gate(evaluation: Iterable[Mapping[str, Any]], name: str) -> Mapping[str, Any]:
    found = next((each for each in evaluation if each["metric"] == name), None)
    return found["bound"] if found else {}


def _broken_gates(result_id: int) -> list[str]:
    evaluation = TestResult.objects.values_list("evaluation", flat=True).get(pk=result_id)
    return [each["metric"] for each in evaluation if each["passed"] is False]


def _primary_metrics(result_ids: Sequence[int]) -> dict[int, MetricRow]:
    rows = MetricRow.objects.filter(result__in=result_ids, position=1)
    return {row.result_id: row for row in rows}


def _run_ids(result_ids: Sequence[int]) -> dict[int, uuid.UUID]:
    # Of the result nothing else: it holds every gate and every node's facts.
    return dict(TestResult.objects.filter(pk__in=result_ids).values_list("pk", "run_id"))
