"""How a verdict enters the database: result, metrics, newest result, move and counters at once."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from django.db import transaction

from burnin.hardware_tests.evaluation import IterationSummary
from burnin.hardware_tests.iterations import Measured
from burnin.hardware_tests.metadata import NodeFacts
from burnin.models.latest import LatestResult
from burnin.models.result import MetricRow, TestResult
from burnin.models.run import RunNode, TestRun
from burnin.models.set_sql import SetWriter
from burnin.models.text import storable, storable_json
from burnin.states import Cause, RunState, Verdict

LONGEST_REASON = 2000
CONCLUSIVE = frozenset({Verdict.PASSED, Verdict.FAILED})

# An older run that is judged late must not replace what a newer one has shown.
_NEWER_WINS = """ON CONFLICT (node_id, slug) DO UPDATE SET
    result_id = excluded.result_id, verdict = excluded.verdict,
    started_at = excluded.started_at, judged_at = excluded.judged_at
    WHERE excluded.started_at >= burnin_latestresult.started_at"""


@dataclass(frozen=True)
class RunVerdict:
    """The judgement of one run and what it rests on.

    `started_at` and `finished_at` are the workload's, by the runner. `thresholds_id` is the
    ThresholdVersion it was judged by. What was never attempted has no `attempt_id`.
    """

    run_id: uuid.UUID
    verdict: Verdict
    cause: Cause
    reason: str
    attempt_id: int | None = None
    measured: Measured | None = None
    thresholds_id: int | None = None
    tools: Mapping[str, str] = field(default_factory=dict)
    facts: Sequence[NodeFacts] = ()
    started_at: datetime | None = None
    finished_at: datetime | None = None


def record_verdicts(
    verdicts: Iterable[RunVerdict], *, before: RunState, now: datetime
) -> list[uuid.UUID]:
    """Judge the runs that are in `before`, in one transaction, and return their ids.

    A run that is judged already, or elsewhere by now, keeps what it has.
    """
    given = {each.run_id: each for each in verdicts}
    with transaction.atomic():
        moved = TestRun.objects.move_each(
            {run_id: {**_on_the_run(each), "waits_because": ""} for run_id, each in given.items()},
            before,
            RunState.JUDGED,
            now=now,
            notes={run_id: f"{each.verdict}: {each.reason}" for run_id, each in given.items()},
        )
        judged = [given[run_id] for run_id in moved]
        results = TestResult.objects.bulk_create(_result(each, now) for each in judged)
        members = _members(moved)
        MetricRow.objects.bulk_create(
            row
            for result, each in zip(results, judged, strict=True)
            for row in _metric_rows(result, each, members.get(each.run_id, []))
        )
        _remember_latest(results, members)
    return moved


def _on_the_run(given: RunVerdict) -> dict[str, str]:
    return {
        "verdict": given.verdict.value,
        "cause": given.cause.value,
        "reason": storable(given.reason, limit=LONGEST_REASON),
    }


def _result(given: RunVerdict, now: datetime) -> TestResult:
    measured = given.measured
    return TestResult(
        run_id=given.run_id,
        attempt_id=given.attempt_id,
        evaluation=storable_json(_evaluation(measured)) if measured else [],
        iterations=_iterations(measured.summary) if measured else None,
        fingerprint=(measured.metrics.fingerprint or "") if measured else "",
        thresholds_id=given.thresholds_id,
        tools=storable_json(dict(given.tools)),
        facts=storable_json([each.model_dump(mode="json") for each in given.facts]),
        started_at=given.started_at,
        finished_at=given.finished_at,
        judged_at=now,
        **_on_the_run(given),
    )


def _evaluation(measured: Measured) -> list[dict[str, Any]]:
    """Return every bound as it was used, with what was measured; `passed` None never decided."""
    asked = {each.metric: each for each in measured.evaluation.entries}
    rows = []
    for name, bound in measured.bounds.items():
        entry = asked.get(name)
        reading = entry.reading if entry else measured.metrics.reading(name)
        rows.append(
            {
                **{**asdict(reading), "unit": reading.unit.value},
                "bound": bound.as_json(),
                "passed": entry.passed if entry else None,
                "text": entry.text if entry else bound.why,
            }
        )
    return rows


def _iterations(summary: IterationSummary | None) -> dict[str, Any] | None:
    return asdict(summary) if summary else None


def _members(run_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, list[int]]:
    """Return the ids of each run's nodes, in order."""
    members: dict[uuid.UUID, list[int]] = {}
    rows = RunNode.objects.filter(run_id__in=run_ids).order_by("run_id", "position")
    for run_id, node_id in rows.values_list("run_id", "node_id"):
        members.setdefault(run_id, []).append(node_id)
    return members


def _metric_rows(result: TestResult, given: RunVerdict, members: Sequence[int]) -> list[MetricRow]:
    if given.measured is None:
        return []
    metrics, node_id = given.measured.metrics, members[0] if len(members) == 1 else None
    shown = [
        (metrics.reading(each.name), each.better or "", getattr(metrics, each.name))
        for each in metrics.declarations().values()
        if each.api_visible and getattr(metrics, each.name) is not None
    ]
    return [
        MetricRow(
            result=result,
            node_id=node_id,
            position=position,
            name=reading.metric,
            label=reading.label,
            value=float(value),
            unit=reading.unit.value,
            better=better,
            detail=storable(reading.detail, limit=2048),
        )
        for position, (reading, better, value) in enumerate(shown, start=1)
    ]


def _remember_latest(
    results: Sequence[TestResult], members: Mapping[uuid.UUID, Sequence[int]]
) -> None:
    """Replace what each node's newest conclusive result was."""
    conclusive = [each for each in results if each.verdict in CONCLUSIVE]
    runs = TestRun.objects.in_bulk([each.run_id for each in conclusive])
    newest: dict[tuple[int, str], dict[str, Any]] = {}
    for result in conclusive:
        run, nodes = runs[result.run_id], members.get(result.run_id, [])
        # Without the runner's word the run began no earlier than it was planned.
        started_at = result.started_at or run.created_at
        for node_id in nodes:
            row = {
                "node_id": node_id,
                "slug": run.slug,
                "result_id": result.pk,
                "verdict": _of_a_member(Verdict(result.verdict), len(nodes)).value,
                "started_at": started_at,
                "judged_at": result.judged_at,
            }
            known = newest.get((node_id, run.slug))
            if known is None or known["started_at"] <= started_at:
                newest[node_id, run.slug] = row
    rows = [newest[key] for key in sorted(newest)]
    SetWriter(LatestResult, LatestResult.objects.db).insert(rows, end=_NEWER_WINS)


def _of_a_member(verdict: Verdict, node_count: int) -> Verdict:
    """A failed collective accuses none of its members, but clears none either."""
    is_shared = verdict is Verdict.FAILED and node_count > 1
    return Verdict.INCONCLUSIVE if is_shared else verdict
