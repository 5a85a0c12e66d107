"""What a job found on each of its nodes is kept with the verdicts, so that no page works it out."""

import uuid
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from burnin.hardware_tests.evaluation import EvaluationStatus, TestMetricEvaluation, gate
from burnin.hardware_tests.metrics import Better, MetricUnit, Reading
from burnin.hardware_tests.thresholds.schema import Bound
from burnin.models import Job, JobNode, RunNode, StepTime, TestResult, TestRun
from burnin.models.job import Found
from burnin.models.severity import Severity, severity_of, worst_deviation
from burnin.models.verdicts import RunVerdict, record_verdicts
from burnin.states import Cause, RunState, Verdict
from burnin.tests.models.measured import measured_margin
from burnin.tests.models.world import NOW, make_job, make_nodes, make_site, plan_runs

LATER = NOW + timedelta(seconds=90)


def _gate(value: float, bound: float, better: Better = Better.HIGHER) -> TestMetricEvaluation:
    reading = Reading("speed", value, MetricUnit.GB_S, "Speed", "")
    return gate(reading, Bound("speed", bound, better, MetricUnit.GB_S, "shipped:1"))


@pytest.mark.parametrize(
    ("gates", "deviation"),
    [
        ([_gate(8.0, 10.0)], -0.2),
        ([_gate(8.0, 10.0, Better.LOWER)], 0.2),
        ([_gate(12.0, 10.0, Better.LOWER)], -0.2),
        ([_gate(10.0, 10.0, Better.EXACT)], 0.0),
        ([_gate(12.0, 10.0, Better.EXACT)], -0.2),
        ([_gate(-8.0, -10.0)], 0.2),
        ([_gate(15.0, 10.0), _gate(9.0, 10.0)], -0.1),
        ([_gate(0.0, 0.0, Better.LOWER), _gate(11.0, 10.0)], 0.1),
        ([_gate(0.0, 0.0, Better.LOWER)], None),
        ([_gate(3.0, 0.0, Better.LOWER), _gate(11.0, 10.0)], None),
        ([], None),
    ],
)
def test_the_worst_margin_is_relative_to_its_bound(
    gates: list[TestMetricEvaluation], deviation: float | None
) -> None:
    found = worst_deviation(gates)

    assert found == (None if deviation is None else pytest.approx(deviation))


def test_a_failure_that_no_margin_describes_is_worse_than_any() -> None:
    assert severity_of("failed", None) > severity_of("failed", -0.9) > severity_of("errored", None)
    assert severity_of("passed", None) == Severity.PASSED


def _job(site_nodes: int = 1, runs: int = 1) -> tuple[Job, list[uuid.UUID]]:
    """Return a job whose nodes are listed, and its runs, node by node."""
    site = make_site()
    job, nodes = make_job(site, node_count=site_nodes), make_nodes(site, site_nodes)
    JobNode.objects.bulk_create(JobNode(job=job, node=node) for node in nodes)
    ids = [run for _ in range(runs) for run in plan_runs(job, nodes)]
    return job, ids


def _judge(run_id: uuid.UUID, verdict: Verdict, margin: float | None = None, **more: Any) -> None:
    given = RunVerdict(run_id, verdict, Cause.NONE, "…", started_at=NOW, **more)
    if margin is not None:
        given = replace(given, measured=measured_margin(margin))
    record_verdicts([given], before=RunState.PLANNED, now=LATER)


@pytest.mark.django_db
def test_planned_runs_are_open_until_they_are_judged() -> None:
    _, ids = _job(runs=3)
    assert JobNode.objects.get().open_runs == 3

    _judge(ids[0], Verdict.PASSED)
    TestRun.objects.move(ids[1:], RunState.PLANNED, RunState.JUDGED, now=NOW, verdict="skipped")

    member = JobNode.objects.get()
    assert (member.open_runs, member.severity) == (0, Severity.SKIPPED)


@pytest.mark.django_db
def test_the_worst_of_all_runs_stands_whatever_comes_after() -> None:
    _, ids = _job(runs=4)

    _judge(ids[0], Verdict.PASSED, 0.25)
    _judge(ids[1], Verdict.FAILED, -0.5)
    _judge(ids[2], Verdict.PASSED, 0.125)
    _judge(ids[3], Verdict.ERRORED)

    member = JobNode.objects.get()
    assert (member.severity, member.worst) == (Severity.FAILED, -0.5)


@pytest.mark.django_db
def test_every_member_of_a_collective_gets_its_verdict() -> None:
    site = make_site()
    job, nodes = make_job(site), make_nodes(site, 2)
    JobNode.objects.bulk_create(JobNode(job=job, node=node) for node in nodes)
    run = TestRun(job=job, site=site, stage=1, step=1, slug="single-node.hello-world")
    TestRun.objects.plan([run], {run.pk: [node.pk for node in nodes]}, now=NOW)

    _judge(run.pk, Verdict.FAILED, -0.5)

    assert set(JobNode.objects.values_list("open_runs", "severity", "worst")) == {(0, 6, -0.5)}
    assert set(RunNode.objects.values_list("job", flat=True)) == {job.pk}


@pytest.mark.django_db
def test_a_result_keeps_its_worst_margin() -> None:
    _, [run_id] = _job()

    _judge(run_id, Verdict.FAILED, -0.5)

    assert TestResult.objects.get().deviation == -0.5


@pytest.mark.django_db
def test_nodes_judged_in_one_batch_are_each_settled() -> None:
    _, ids = _job(site_nodes=3, runs=2)
    verdicts = [Verdict.PASSED, Verdict.FAILED, Verdict.ERRORED] * 2

    record_verdicts(
        [RunVerdict(run, each, Cause.NONE, "…") for run, each in zip(ids, verdicts, strict=True)],
        before=RunState.PLANNED,
        now=NOW,
    )

    found = JobNode.objects.order_by("node").values_list("open_runs", "severity")
    assert list(found) == [(0, Severity.PASSED), (0, Severity.FAULT), (0, Severity.ERRORED)]


@pytest.mark.django_db
def test_no_number_gives_way_to_any_and_none_to_no_number() -> None:
    job, _ = _job()
    key = (job.pk, JobNode.objects.get().node_id)

    JobNode.objects.worsen({key: Found(Severity.PASSED, None)})
    JobNode.objects.worsen({key: Found(Severity.PASSED, 0.5)})
    JobNode.objects.worsen({key: Found(Severity.MEASURED, None)})

    member = JobNode.objects.get()
    assert (member.severity, member.worst) == (Severity.PASSED, 0.5)


@pytest.mark.django_db
def test_more_verdicts_than_runs_are_refused_by_the_database() -> None:
    job, _ = _job()

    with pytest.raises(IntegrityError), transaction.atomic():
        JobNode.objects.settle([(job.pk, JobNode.objects.get().node_id, "passed")] * 2)


@pytest.mark.django_db
def test_the_time_of_what_was_measured_is_added_up_by_step() -> None:
    _, ids = _job(runs=3)

    _judge(ids[0], Verdict.PASSED, finished_at=LATER)
    _judge(ids[1], Verdict.FAILED, finished_at=NOW + timedelta(seconds=30))
    _judge(ids[2], Verdict.ERRORED, finished_at=LATER)

    times = StepTime.objects.get()
    assert (times.step, times.slug, times.runs) == (1, "single-node.hello-world", 2)
    assert times.mean_s == 60.0


def test_a_measurement_of_these_tests_is_judged_as_said() -> None:
    assert measured_margin(-0.5).evaluation.status is EvaluationStatus.FAILED
    assert measured_margin(0.5).evaluation.status is EvaluationStatus.PASSED
