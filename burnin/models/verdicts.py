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
from burnin.hardware_tests.metrics import PairwiseNetworkMetrics
from burnin.hardware_tests.workload import Workload
from burnin.models.job import Found, JobNode, NodeKey
from burnin.models.latest import LatestResult
from burnin.models.of_workload import columns_of, workloads_of
from burnin.models.result import MetricRow, PairMetric, TestResult
from burnin.models.run import RunNode, TestRun
from burnin.models.severity import severity_of, worst_deviation
from burnin.models.step_time import StepKey, StepTime
from burnin.models.text import storable, storable_json
from burnin.models.trouble import Outcome, Trouble
from burnin.models.weighing import weigh_again
from burnin.states import Cause, RunState, Verdict
from fleet.models import Node

LONGEST_REASON = 2000
CONCLUSIVE = frozenset({Verdict.PASSED, Verdict.FAILED})
MEASURED = CONCLUSIVE | {Verdict.MEASURED}


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
        members, runs = _members(moved), TestRun.objects.in_bulk(moved)
        nodes = _nodes(members)
        MetricRow.objects.bulk_create(
            row
            for result, each in zip(results, judged, strict=True)
            for row in _metric_rows(result, each, members.get(each.run_id, []))
        )
        _remember_pairs(results, judged, members, nodes)
        shares = _shares(results, runs, members, nodes)
        _remember_latest(shares)
        _remember_trouble(shares)
        weigh_again(nodes, now=now)
        _remember_worst(results, runs, members)
        _remember_times(results, runs)
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
        deviation=worst_deviation(measured.evaluation.entries) if measured else None,
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


def _nodes(members: Mapping[uuid.UUID, Sequence[int]]) -> dict[int, Node]:
    ids = {node_id for each in members.values() for node_id in each}
    rows = Node.objects.select_related("resource_class").only("name", "resource_class__name")
    return rows.in_bulk(ids)


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


def _remember_pairs(
    results: Sequence[TestResult],
    judged: Sequence[RunVerdict],
    members: Mapping[uuid.UUID, Sequence[int]],
    nodes: Mapping[int, Node],
) -> None:
    """Keep what was measured between each two nodes of a run."""
    measured = [
        (result, given.measured.metrics.pairs)
        for result, given in zip(results, judged, strict=True)
        if given.measured and isinstance(given.measured.metrics, PairwiseNetworkMetrics)
    ]
    for result, pairs in measured:
        ids = {nodes[node_id].name: node_id for node_id in members[result.run_id]}
        PairMetric.objects.bulk_create(
            PairMetric(
                result=result,
                source_id=ids[each.source],
                target_id=ids[each.target],
                name=each.metric,
                link=each.link,
                value=each.value,
            )
            for each in pairs
        )


@dataclass(frozen=True)
class _Share:
    """What a result says of one of its nodes."""

    result: TestResult
    run: TestRun
    node: Node
    verdict: Verdict
    workload: Workload | None


def _shares(
    results: Sequence[TestResult],
    runs: Mapping[uuid.UUID, TestRun],
    members: Mapping[uuid.UUID, Sequence[int]],
    nodes: Mapping[int, Node],
) -> list[_Share]:
    classes = {run: [nodes[pk].resource_class.name for pk in ids] for run, ids in members.items()}
    workloads = workloads_of(runs.values(), classes)
    return [
        _Share(
            result,
            runs[result.run_id],
            nodes[node_id],
            _of_a_member(Verdict(result.verdict), len(members[result.run_id])),
            workloads[result.run_id],
        )
        for result in results
        for node_id in members.get(result.run_id, ())
    ]


def _remember_latest(shares: Iterable[_Share]) -> None:
    """Keep what is shown of each node now."""
    LatestResult.objects.record(
        [
            LatestResult(
                node=each.node,
                slug=each.run.slug,
                result=each.result,
                verdict=each.verdict.value,
                # Without the runner's word the run began no earlier than it was planned.
                started_at=each.result.started_at or each.run.created_at,
                finished_at=each.result.finished_at,
                judged_at=each.result.judged_at,
                identity=_identity(each.result, each.node.name),
                **columns_of(each.workload),
            )
            for each in shares
            if each.result.verdict in CONCLUSIVE
        ]
    )


def _identity(result: TestResult, node_name: str) -> dict[str, Any]:
    """Return by what the node said which machine it is; nothing if it is not in the facts."""
    said: Mapping[str, Any] = next(
        (each for each in result.facts if each["node_name"] == node_name), {}
    )
    return {name: said.get(name) for name in ("dmi_serial", "machine_id", "gpu_uuids")}


def _remember_trouble(shares: Iterable[_Share]) -> None:
    """Keep what is wrong with each node, until something newer answers it."""
    Trouble.objects.record(
        [
            Outcome(
                node_id=each.node.pk,
                node_name=each.node.name,
                slug=each.run.slug,
                run_id=each.run.pk,
                verdict=each.verdict,
                cause=each.result.cause,
                reason=each.result.reason,
                began_at=each.result.started_at or each.result.judged_at,
                judged_at=each.result.judged_at,
                workload=each.workload,
            )
            for each in shares
            if each.verdict is not Verdict.SKIPPED
        ]
    )


def _of_a_member(verdict: Verdict, node_count: int) -> Verdict:
    """A failed collective accuses none of its members, but clears none either."""
    is_shared = verdict is Verdict.FAILED and node_count > 1
    return Verdict.INCONCLUSIVE if is_shared else verdict


def _remember_worst(
    results: Sequence[TestResult],
    runs: Mapping[uuid.UUID, TestRun],
    members: Mapping[uuid.UUID, Sequence[int]],
) -> None:
    """Keep with each node of a job how far its worst measurement is from its bound."""
    found: dict[NodeKey, Found] = {}
    for result in results:
        if result.verdict not in CONCLUSIVE:
            continue
        severity = severity_of(result.verdict, result.deviation)
        for node_id in members.get(result.run_id, []):
            key = runs[result.run_id].job_id, node_id
            known = found.get(key, Found(severity, result.deviation))
            given = [each for each in (known.worst, result.deviation) if each is not None]
            found[key] = Found(max(known.severity, severity), min(given, default=None))
    JobNode.objects.worsen(found)


def _remember_times(results: Sequence[TestResult], runs: Mapping[uuid.UUID, TestRun]) -> None:
    """Add up how long each step takes, by the runs that were measured."""
    took: dict[StepKey, tuple[int, int]] = {}
    for result in results:
        if result.verdict not in MEASURED or not (result.started_at and result.finished_at):
            continue
        run = runs[result.run_id]
        seconds = max(0, round((result.finished_at - result.started_at).total_seconds()))
        key = run.job_id, run.stage, run.step, run.slug
        known = took.get(key, (0, 0))
        took[key] = known[0] + 1, known[1] + seconds
    StepTime.objects.add(took)
