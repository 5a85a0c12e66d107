"""Everything that is known of one run, in a fixed number of queries."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from burnin.models import Artifact, Attempt, MetricRow, RunNode, TestResult, TestRun, TestRunEvent
from burnin.states import Verdict
from fleet.models import Node


@dataclass(frozen=True)
class ShownMetric:
    """A metric with the bound it was asked, as both were stored with the verdict.

    `passed` is None where no gate decided: `why` then says why. `deviation` is relative to the
    bound and below 0 when the gate does not hold. `has_trend`: its node's page shows it over time.
    """

    name: str
    label: str
    value: float | None
    unit: str
    detail: str
    better: str = ""
    passed: bool | None = None
    bound: Mapping[str, Any] = field(default_factory=dict)
    has_trend: bool = False

    @property
    def limit(self) -> float | None:
        """The bound's value; None where nothing gates."""
        return self.bound.get("value")

    @property
    def why(self) -> str:
        return str(self.bound.get("why") or "no bound is set")

    @property
    def deviation(self) -> float | None:
        if not self.limit or self.value is None:
            return None
        above = (self.value - self.limit) / abs(self.limit)
        return {"higher": above, "lower": -above}.get(self.bound["better"], -abs(above))


@dataclass(frozen=True)
class RunPage:
    """A run and all that hangs on it; `attempt` is the one that is looked at."""

    run: TestRun
    nodes: list[Node]
    events: list[TestRunEvent]
    attempts: list[Attempt]
    attempt: Attempt | None
    result: TestResult | None
    metrics: list[ShownMetric]
    artifacts: list[Artifact]
    params: Mapping[str, Any]
    rerun_by: list[TestRun]

    @property
    def gates(self) -> tuple[int, int]:
        """How many gates hold, and how many there are."""
        asked = [each.passed for each in self.metrics if each.passed is not None]
        return sum(asked), len(asked)

    @property
    def trend(self) -> str:
        """The metric to look at over time, the first whose gate does not hold; "" for none."""
        kept = [each for each in self.metrics if each.has_trend and len(self.nodes) == 1]
        broken = [each for each in kept if each.passed is False]
        return next((each.name for each in [*broken, *kept]), "")

    @property
    def counts_against_the_node(self) -> bool:
        return self.run.verdict == Verdict.FAILED and len(self.nodes) == 1


def run_page(run: TestRun, attempt_number: int | None = None) -> RunPage:
    """Gather what the page of a run shows. `run` comes with its job, site and preset."""
    members = RunNode.objects.filter(run=run).select_related("node__resource_class")
    nodes = [each.node for each in members.order_by("position")]
    attempts = list(Attempt.objects.filter(run=run).order_by("number"))
    wanted = attempt_number or run.attempt_number
    attempt = next((each for each in attempts if each.number == wanted), None)
    result = TestResult.objects.filter(run=run).select_related("thresholds").first()
    rows = MetricRow.objects.filter(result=result).order_by("position") if result else ()
    return RunPage(
        run=run,
        nodes=nodes,
        events=list(TestRunEvent.objects.filter(run=run).order_by("at", "id")),
        attempts=attempts,
        attempt=attempt,
        result=result,
        metrics=_metrics(list(rows), result.evaluation if result else []),
        artifacts=list(Artifact.objects.filter(attempt=attempt).order_by("name")),
        params=_params(run, nodes),
        rerun_by=list(TestRun.objects.filter(rerun_of=run).order_by("created_at")),
    )


def visible_run(run_id: uuid.UUID, site_ids: Any) -> TestRun | None:
    """Return the run with its job, site and preset, if it is of one of these sites."""
    found = TestRun.objects.filter(pk=run_id, site__in=site_ids)
    return found.select_related("job__preset", "site").first()


def _params(run: TestRun, nodes: Sequence[Node]) -> Mapping[str, Any]:
    """Return what nodes of this class are given: a run has nodes of one class."""
    steps: dict[int, Mapping[str, Any]] = {each["position"]: each for each in run.job.steps}
    step = steps.get(run.step, {})
    name = nodes[0].resource_class.name if nodes else ""
    given: Mapping[str, Any] = step.get("params_on", {}).get(name, step.get("params", {}))
    return given


def _metrics(rows: list[MetricRow], evaluation: list[dict[str, Any]]) -> list[ShownMetric]:
    """Return what operators see in their order, then gates on what they do not see."""
    asked = {each["metric"]: each for each in evaluation}
    shown = [_of_row(row, asked.pop(row.name, {})) for row in rows]
    return [*shown, *(_of_gate(each) for each in asked.values() if each["passed"] is not None)]


def _of_row(row: MetricRow, gate: Mapping[str, Any]) -> ShownMetric:
    return ShownMetric(
        name=row.name,
        label=row.label,
        value=row.value,
        unit=row.unit,
        detail=row.detail,
        better=row.better,
        passed=gate.get("passed"),
        bound=gate.get("bound", {}),
        has_trend=row.node_id is not None,
    )


def _of_gate(gate: Mapping[str, Any]) -> ShownMetric:
    value = gate["value"]
    return ShownMetric(
        name=gate["metric"],
        label=gate["label"],
        value=value if isinstance(value, int | float) else None,
        unit=gate["unit"],
        detail=gate["detail"],
        passed=gate["passed"],
        bound=gate["bound"],
    )
