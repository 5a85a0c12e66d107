"""Every way a run can end, and the one verdict each leads to."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from celery.exceptions import SoftTimeLimitExceeded

from burnin.hardware_tests import base
from burnin.hardware_tests.single_node.dcgmi import Dcgmi
from burnin.hardware_tests.single_node.hello_world import HelloWorld, HelloWorldParams
from burnin.slurm.states import outcome_of
from burnin.states import Cause, Verdict
from burnin.tests.attempts import HELLO, NODE, TOKEN, write_attempt
from burnin.workflow.judge import EndedRun, judge
from runner.contract import artifacts as contract
from runner.contract.slugs import Slugs
from runner.contract.wire import AttemptToken, ExitCode

STALLED_AFTER_S = 300.0  # hello-world's `silent_for_s`


@pytest.fixture
def run(tmp_path: Path) -> EndedRun:
    return EndedRun(
        test=HelloWorld(),
        params=HelloWorldParams(),
        token=TOKEN,
        resource_class="cpu-generic",
        outcome=outcome_of("COMPLETED"),
        exit_code="0:0",
        requested_nodes=(NODE,),
        directory=tmp_path,
    )


def test_a_run_with_good_artifacts_passes(run: EndedRun) -> None:
    write_attempt(run.directory)

    judgement = judge(run)

    assert judgement.verdict is Verdict.PASSED
    assert judgement.cause is Cause.NONE
    assert judgement.measured is not None


def test_a_measured_fault_fails_although_slurm_calls_the_job_failed(run: EndedRun) -> None:
    write_attempt(
        run.directory, results={"hello.json": json.dumps({**HELLO, "node_name": "another"})}
    )

    judgement = judge(replace(run, outcome=outcome_of("FAILED", "NonZeroExitCode")))

    assert (judgement.verdict, judgement.cause) == (Verdict.FAILED, Cause.HARDWARE)


def test_exit_zero_without_artifacts_never_passes(run: EndedRun) -> None:
    judgement = judge(run)

    assert (judgement.verdict, judgement.cause) == (Verdict.ERRORED, Cause.INFRASTRUCTURE)
    assert "metadata.json" in judgement.reason


def test_a_changed_artifact_is_errored(run: EndedRun) -> None:
    write_attempt(run.directory)
    (run.directory / contract.STDOUT).write_bytes(b"hello?")

    judgement = judge(run)

    assert judgement.verdict is Verdict.ERRORED
    assert "stdout.txt" in judgement.reason


def test_the_artifacts_of_another_attempt_are_errored(run: EndedRun) -> None:
    write_attempt(run.directory, token=AttemptToken(TOKEN.run_id, 2))

    judgement = judge(run)

    assert judgement.verdict is Verdict.ERRORED
    assert f"{TOKEN.run_id}:2" in judgement.reason


@pytest.mark.parametrize("outcome", ["timed_out", "interrupted", "cannot_run"])
@pytest.mark.parametrize("state", ["COMPLETED", "TIMEOUT"])
def test_what_another_attempt_says_of_its_end_is_not_believed(
    run: EndedRun, outcome: str, state: str
) -> None:
    write_attempt(
        run.directory,
        token=AttemptToken(TOKEN.run_id, 2),
        outcome=outcome,
        reason="its own reason",
        last_progress_at=1_000.0,
        finished_at=1_000.0 + STALLED_AFTER_S,
    )

    judgement = judge(replace(run, outcome=outcome_of(state)))

    assert (judgement.verdict, judgement.cause) == (Verdict.ERRORED, Cause.INFRASTRUCTURE)
    assert judgement.reason == (f"the artifacts are of {TOKEN.run_id}:2, not of {TOKEN.run_id}:1")


def test_a_run_of_another_test_is_errored(run: EndedRun) -> None:
    write_attempt(run.directory, slug=Slugs.STORAGE)

    assert judge(run).reason == "the node ran single-node.storage, not single-node.hello-world"


def test_a_run_on_other_nodes_is_attributed_to_nobody(run: EndedRun) -> None:
    write_attempt(run.directory, node_names=["n2"])

    judgement = judge(run)

    assert (judgement.verdict, judgement.cause) == (Verdict.ERRORED, Cause.INFRASTRUCTURE)
    assert judgement.reason == (
        "n1 was asked for, but the run was on n2: nothing is attributed to either"
    )


def test_a_run_of_fewer_iterations_than_asked_for_is_errored(run: EndedRun) -> None:
    write_attempt(run.directory)

    judgement = judge(replace(run, iterations=3))

    assert judgement.verdict is Verdict.ERRORED
    assert judgement.reason == "3 iterations were asked for, but the node ran 1"


def test_a_tool_that_could_not_run_is_errored_by_the_test(run: EndedRun) -> None:
    write_attempt(run.directory, outcome="cannot_run", reason="fio is not installed on n1")

    judgement = judge(replace(run, outcome=outcome_of("FAILED", "NonZeroExitCode")))

    assert (judgement.verdict, judgement.cause) == (Verdict.ERRORED, Cause.TEST)
    assert judgement.reason == "fio is not installed on n1"


def test_an_unknown_resource_class_is_errored_not_passed(run: EndedRun) -> None:
    write_attempt(run.directory)

    judgement = judge(replace(run, resource_class="no-such-class"))

    assert judgement.verdict is Verdict.ERRORED
    assert judgement.reason.startswith("no calibrated threshold")


def test_a_report_that_cannot_be_read_is_errored_by_the_test(run: EndedRun) -> None:
    write_attempt(run.directory, results={"hello.json": '{"node_name": "n1"'})

    judgement = judge(run)

    assert (judgement.verdict, judgement.cause) == (Verdict.ERRORED, Cause.TEST)


def test_a_cancelled_run_is_skipped_and_says_by_whom(run: EndedRun) -> None:
    cancelled = replace(run, outcome=outcome_of("CANCELLED by 0"))

    assert judge(replace(cancelled, cancel_reason="cancelled by ann")).reason == "cancelled by ann"
    assert judge(cancelled).verdict is Verdict.SKIPPED
    assert "not by Fleet Manager" in judge(cancelled).reason


@pytest.mark.parametrize("state", ["NODE_FAIL", "BOOT_FAIL"])
def test_a_lost_node_is_inconclusive_and_never_failed(run: EndedRun, state: str) -> None:
    write_attempt(run.directory)

    judgement = judge(replace(run, outcome=outcome_of(state)))

    assert (judgement.verdict, judgement.cause) == (Verdict.INCONCLUSIVE, Cause.HARDWARE)


@pytest.mark.parametrize("state", ["OUT_OF_MEMORY", "DEADLINE", "REVOKED"])
def test_what_slurm_ended_for_its_own_reasons_is_errored(run: EndedRun, state: str) -> None:
    write_attempt(run.directory)

    assert judge(replace(run, outcome=outcome_of(state))).verdict is Verdict.ERRORED


def test_a_busy_test_out_of_time_had_too_short_a_limit(run: EndedRun) -> None:
    write_attempt(run.directory, outcome="timed_out", reason="ended after 45 s")

    judgement = judge(run)

    assert (judgement.verdict, judgement.cause) == (Verdict.ERRORED, Cause.TEST)
    assert judgement.reason == (
        "ended after 45 s; it was still at work: the time limit is too short"
    )


def test_a_silent_test_out_of_time_had_hung(run: EndedRun) -> None:
    write_attempt(
        run.directory,
        outcome="timed_out",
        reason="ended after 3,600 s",
        last_progress_at=1_000.0,
        finished_at=1_000.0 + STALLED_AFTER_S,
    )

    judgement = judge(replace(run, outcome=outcome_of("TIMEOUT")))

    assert (judgement.verdict, judgement.cause) == (Verdict.INCONCLUSIVE, Cause.HARDWARE)
    assert "hung" in judgement.reason


def test_a_time_out_before_the_runner_started_is_no_fault_of_the_node(run: EndedRun) -> None:
    judgement = judge(replace(run, outcome=outcome_of("TIMEOUT")))

    assert (judgement.verdict, judgement.cause) == (Verdict.ERRORED, Cause.INFRASTRUCTURE)


def test_a_time_out_that_the_runner_could_not_end_makes_the_node_suspect(run: EndedRun) -> None:
    (run.directory / contract.STARTED).write_text("{}")

    judgement = judge(replace(run, outcome=outcome_of("TIMEOUT")))

    assert (judgement.verdict, judgement.cause) == (Verdict.INCONCLUSIVE, Cause.HARDWARE)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (ExitCode.BAD_BUNDLE, "not the one that was sent"),
        (ExitCode.REQUEUED, "a second time"),
        (ExitCode.OLD_PYTHON, "Python is too old"),
    ],
)
def test_the_runners_exit_code_explains_missing_artifacts(
    run: EndedRun, code: int, words: str
) -> None:
    failed = replace(run, outcome=outcome_of("FAILED", "NonZeroExitCode"), exit_code=f"{code}:0")

    judgement = judge(failed)

    assert (judgement.verdict, judgement.cause) == (Verdict.ERRORED, Cause.INFRASTRUCTURE)
    assert words in judgement.reason


def test_an_unknown_state_is_errored(run: EndedRun) -> None:
    write_attempt(run.directory)

    assert judge(replace(run, outcome=outcome_of("BRAND_NEW"))).verdict is Verdict.ERRORED


@pytest.mark.parametrize("limit", [MemoryError, SoftTimeLimitExceeded])
@pytest.mark.parametrize("step", ["extract_metrics", "evaluate_metrics"])
def test_a_worker_at_its_own_end_makes_no_verdict(
    run: EndedRun, monkeypatch: pytest.MonkeyPatch, limit: type[Exception], step: str
) -> None:
    write_attempt(run.directory)

    def end(*_: object) -> None:
        raise limit

    if step == "extract_metrics":
        monkeypatch.setattr(HelloWorld, step, end)
    else:
        monkeypatch.setattr(base, step, end)

    with pytest.raises(limit):
        judge(run)


def test_a_silent_tool_that_reports_only_at_its_end_makes_no_node_suspect(run: EndedRun) -> None:
    write_attempt(
        run.directory,
        slug=Slugs.DCGMI,
        outcome="timed_out",
        reason="ended after 3,600 s",
        last_progress_at=1_000.0,
        finished_at=4_600.0,
    )

    judgement = judge(replace(run, test=Dcgmi(), outcome=outcome_of("TIMEOUT")))

    assert (judgement.verdict, judgement.cause) == (Verdict.ERRORED, Cause.TEST)
    assert "the time limit may be too short, or it hung" in judgement.reason


def test_a_node_that_does_not_say_its_params_is_errored(run: EndedRun) -> None:
    write_attempt(run.directory, params=None)

    judgement = judge(run)

    assert (judgement.verdict, judgement.cause) == (Verdict.ERRORED, Cause.INFRASTRUCTURE)
    assert judgement.reason == "the node does not say with which params it ran"
