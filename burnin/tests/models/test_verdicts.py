"""A verdict enters once, whole, with the bounds it was judged by."""

import json
import uuid
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from django.db import IntegrityError, transaction

from burnin.hardware_tests.iterations import Measured
from burnin.hardware_tests.metadata import NodeFacts
from burnin.hardware_tests.metrics import PairMetric as PairRow
from burnin.hardware_tests.single_node.hello_world import HelloWorld, HelloWorldParams
from burnin.models import Job, LatestResult, MetricRow, PairMetric, TestResult, TestRun
from burnin.models.verdicts import RunVerdict, record_verdicts
from burnin.slurm.states import outcome_of
from burnin.states import Cause, RunState, Verdict
from burnin.tests.attempts import HELLO, NODE, TOKEN, write_attempt
from burnin.tests.models.measured import PairSpeed, measured_margin
from burnin.tests.models.world import (
    NOW,
    add_attempt,
    brought_to,
    counters,
    make_job,
    make_nodes,
    make_site,
    plan_runs,
    recount,
)
from burnin.workflow.judge import EndedRun, Judgement, judge
from fleet.models import Node
from runner.contract.slugs import Slugs

LATER = NOW + timedelta(hours=1)
FACTS = NodeFacts(node_name="n1", hostname="n1", kernel="6.1", dmi_serial="S\0N")
pytestmark = pytest.mark.django_db


def _judgement(directory: Path, *, answer: str = NODE) -> Judgement:
    write_attempt(directory, results={"hello.json": json.dumps({**HELLO, "node_name": answer})})
    return judge(
        EndedRun(
            test=HelloWorld(),
            params=HelloWorldParams(),
            token=TOKEN,
            resource_class="cpu-generic",
            outcome=outcome_of("COMPLETED"),
            exit_code="0:0",
            requested_nodes=(NODE,),
            directory=directory,
        )
    )


@pytest.fixture
def measured(tmp_path: Path) -> Measured:
    found = _judgement(tmp_path).measured
    assert found is not None
    return found


def _passed(run_id: uuid.UUID, measured: Measured) -> RunVerdict:
    return RunVerdict(
        run_id,
        Verdict.PASSED,
        Cause.NONE,
        measured.evaluation.reason,
        measured=measured,
        tools={"python": "3.11"},
        facts=[FACTS],
        started_at=NOW,
        finished_at=LATER,
    )


def test_a_verdict_writes_result_metrics_newest_result_move_and_counters(
    measured: Measured,
) -> None:
    [run_id] = brought_to(RunState.FINISHED)
    attempt = add_attempt(run_id)

    recorded = record_verdicts(
        [replace(_passed(run_id, measured), attempt_id=attempt.pk)],
        before=RunState.FINISHED,
        now=LATER,
    )

    run = TestRun.objects.get(pk=run_id)
    assert recorded == [run_id]
    assert (run.state, run.verdict, run.reason) == ("judged", "passed", measured.evaluation.reason)
    assert run.result.attempt == attempt
    assert run.result.facts[0]["dmi_serial"] == "S\ufffdN"
    [metric] = run.result.metrics.all()
    assert (metric.name, metric.value, metric.node) == ("responded", 1.0, Node.objects.get())
    newest = LatestResult.objects.get()
    assert (newest.slug, newest.verdict, newest.started_at) == (Slugs.HELLO_WORLD, "passed", NOW)
    assert run.events.get(after="judged").note == f"passed: {measured.evaluation.reason}"
    assert counters(run.job) == recount(run.job) == {(1, "passed"): 1}


def test_a_result_keeps_every_bound_it_was_judged_by(measured: Measured) -> None:
    [run_id] = brought_to(RunState.FINISHED)

    record_verdicts([_passed(run_id, measured)], before=RunState.FINISHED, now=LATER)

    [entry] = TestResult.objects.get().evaluation
    assert (entry["metric"], entry["value"], entry["passed"]) == ("responded", 1, True)
    assert {key: entry["bound"][key] for key in ("value", "better", "unit", "version")} == {
        "value": 1,
        "better": "exact",
        "unit": "",
        "version": "shipped:0.1.0",
    }
    assert entry["bound"]["source"]


def test_a_second_judge_changes_nothing(measured: Measured) -> None:
    [run_id] = brought_to(RunState.FINISHED)
    record_verdicts([_passed(run_id, measured)], before=RunState.FINISHED, now=NOW)
    other = RunVerdict(run_id, Verdict.FAILED, Cause.HARDWARE, "late")

    recorded = record_verdicts([other], before=RunState.FINISHED, now=LATER)

    assert recorded == []
    assert TestResult.objects.get().verdict == "passed"
    assert LatestResult.objects.get().verdict == "passed"


def test_what_never_ran_has_a_result_and_is_no_evidence() -> None:
    [run_id] = brought_to(RunState.PLANNED)
    skipped = RunVerdict(run_id, Verdict.SKIPPED, Cause.NONE, "n1 is drained")

    record_verdicts([skipped], before=RunState.PLANNED, now=NOW)

    assert TestResult.objects.get().reason == "n1 is drained"
    assert not LatestResult.objects.exists()
    assert not MetricRow.objects.exists()


@pytest.mark.parametrize("verdict", sorted(set(Verdict) - {Verdict.PASSED, Verdict.FAILED}))
def test_only_conclusive_verdicts_replace_the_newest(verdict: Verdict) -> None:
    [run_id] = brought_to(RunState.FINISHED)

    record_verdicts(
        [RunVerdict(run_id, verdict, Cause.NONE, "…")], before=RunState.FINISHED, now=NOW
    )

    assert not LatestResult.objects.exists()


@pytest.mark.parametrize(
    ("starts", "stands"), [((0, 1), "failed"), ((1, 0), "passed"), ((0, 0), "failed")]
)
def test_the_run_that_started_last_stands_however_late_the_other_is_judged(
    starts: tuple[int, int], stands: str
) -> None:
    site = make_site()
    nodes, job = make_nodes(site, 1), make_job(site)
    runs = [plan_runs(job, nodes)[0] for _ in starts]
    for run_id, hour, verdict in zip(runs, starts, ("passed", "failed"), strict=True):
        started = NOW + timedelta(hours=hour)
        given = RunVerdict(run_id, Verdict(verdict), Cause.NONE, "…", started_at=started)
        record_verdicts([given], before=RunState.PLANNED, now=LATER)

    assert LatestResult.objects.get().verdict == stands


def test_two_results_of_a_node_in_one_batch_leave_the_newer() -> None:
    site = make_site()
    nodes, job = make_nodes(site, 1), make_job(site)
    [old], [new] = plan_runs(job, nodes), plan_runs(job, nodes)

    record_verdicts(
        [
            RunVerdict(new, Verdict.FAILED, Cause.HARDWARE, "…", started_at=LATER),
            RunVerdict(old, Verdict.PASSED, Cause.NONE, "…", started_at=NOW),
        ],
        before=RunState.PLANNED,
        now=LATER,
    )

    assert LatestResult.objects.get().verdict == "failed"


def test_a_failed_collective_accuses_no_member_and_clears_none() -> None:
    site = make_site()
    nodes, job = make_nodes(site, 2), make_job(site)
    run = TestRun(job=job, site=site, stage=1, step=1, slug=Slugs.HELLO_WORLD)
    TestRun.objects.plan([run], {run.id: [node.pk for node in nodes]}, now=NOW)

    record_verdicts(
        [RunVerdict(run.id, Verdict.FAILED, Cause.HARDWARE, "slow ring")],
        before=RunState.PLANNED,
        now=NOW,
    )

    assert list(LatestResult.objects.values_list("verdict", flat=True)) == ["inconclusive"] * 2


def test_words_too_long_or_with_a_nul_are_kept_as_far_as_they_fit() -> None:
    [run_id] = brought_to(RunState.FINISHED)
    given = RunVerdict(run_id, Verdict.ERRORED, Cause.TEST, "\0" + "x" * 5000)

    record_verdicts([given], before=RunState.FINISHED, now=NOW)

    reason = TestResult.objects.get().reason
    assert reason == TestRun.objects.get().reason
    assert (reason[:2], len(reason)) == ("\ufffdx", 2000)


def test_if_one_result_cannot_be_written_nothing_is(measured: Measured) -> None:
    ids = brought_to(RunState.FINISHED, 2)
    given = [_passed(run_id, measured) for run_id in ids]
    bad = [given[0], replace(given[1], attempt_id=987_654_321)]

    with pytest.raises(IntegrityError), transaction.atomic():
        record_verdicts(bad, before=RunState.FINISHED, now=NOW)
        transaction.get_connection().check_constraints()

    assert counters(Job.objects.get()) == {(1, "finished"): 2}
    assert not TestResult.objects.exists()


def test_a_batch_costs_the_same_number_of_queries_whatever_its_size(
    measured: Measured, django_assert_max_num_queries: object
) -> None:
    ids = brought_to(RunState.FINISHED, 50)
    given = [_passed(run_id, measured) for run_id in ids]

    with django_assert_max_num_queries(29):  # type: ignore[operator]
        record_verdicts(given, before=RunState.FINISHED, now=NOW)


def _measured_pair(source: str, target: str) -> Measured:
    margin = measured_margin(0.1)
    rows = (
        PairRow(source=source, target=target, metric="speed", value=8.8),
        PairRow(source=target, target=source, metric="speed", value=9.9),
    )
    return replace(margin, metrics=PairSpeed(speed=8.8, pairs=rows))


def test_what_was_measured_between_two_nodes_is_kept_by_direction() -> None:
    site = make_site()
    job, nodes = make_job(site), make_nodes(site, 2)
    run = TestRun(job=job, site=site, stage=1, step=1, slug=Slugs.PAIR_NET_BANDWIDTH)
    TestRun.objects.plan([run], {run.pk: [node.pk for node in nodes]}, now=NOW)
    verdict = _passed(run.pk, _measured_pair("n2", "n1"))

    record_verdicts([verdict], before=RunState.PLANNED, now=LATER)

    kept = PairMetric.objects.filter(result__run=run).order_by("value")
    assert list(kept.values_list("source__name", "target__name", "name", "value")) == [
        ("n2", "n1", "speed", 8.8),
        ("n1", "n2", "speed", 9.9),
    ]
