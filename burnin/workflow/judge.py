"""From Slurm's last word and the collected files to a verdict. Reads files, changes nothing."""

from dataclasses import dataclass
from pathlib import Path

from burnin.hardware_tests.artifacts import (
    AmbiguousArtifact,
    ArtifactCollector,
    MissingArtifact,
    WrongAttempt,
    open_artifacts,
    read_metadata_of,
)
from burnin.hardware_tests.base import BaseTest
from burnin.hardware_tests.evaluation import EvaluationStatus, NotMeasured
from burnin.hardware_tests.iterations import Measured, measure_and_evaluate
from burnin.hardware_tests.metadata import HardwareTestMetadata
from burnin.hardware_tests.params import TestParams
from burnin.hardware_tests.parsers.refusal import ParseError
from burnin.hardware_tests.thresholds.errors import BadThresholds, NoThresholds
from burnin.hardware_tests.thresholds.schema import ThresholdSet
from burnin.hardware_tests.unpack import TornArtifact
from burnin.hardware_tests.worker_limits import WORKER_LIMITS
from burnin.slurm.states import Meaning, Outcome
from burnin.states import Cause, Verdict
from runner.contract import artifacts as contract
from runner.contract.wire import AttemptToken, ExitCode
from runner.contract.wire import Outcome as RunnerOutcome


@dataclass(frozen=True)
class EndedRun:
    """One attempt that Slurm is done with, and where its files were brought.

    `requested_nodes` is empty when Slurm chose. `cancel_reason` says who asked for the end and
    why, if we did. `limits` are those that a job froze; None: those that ship, for the class.
    Below `scratch` archives are unpacked; None: among the temporary files.
    """

    test: BaseTest
    params: TestParams
    token: AttemptToken
    resource_class: str
    outcome: Outcome
    exit_code: str | None
    requested_nodes: tuple[str, ...]
    directory: Path
    iterations: int | None = None
    cancel_reason: str = ""
    limits: ThresholdSet | None = None
    scratch: Path | None = None


@dataclass(frozen=True)
class Judgement:
    """The verdict, where its reason lies, and what was measured (None when nothing was)."""

    verdict: Verdict
    cause: Cause
    reason: str
    measured: Measured | None = None


def judge(run: EndedRun) -> Judgement:
    """Return the verdict of a run. Does not raise for anything a node can have written.

    Raises what is in WORKER_LIMITS: the worker that judges has come to its own end.
    """
    match run.outcome.meaning:
        case Meaning.JUDGE:
            return _judge_artifacts(run)
        case Meaning.CANCELLED:
            return _judge_cancelled(run)
        case Meaning.TIMED_OUT:
            return _judge_time_out(run)
        case Meaning.INCONCLUSIVE:
            return Judgement(Verdict.INCONCLUSIVE, Cause(run.outcome.cause), _said(run))
        case _:
            cause = Cause(run.outcome.cause or Cause.INFRASTRUCTURE)
            return Judgement(Verdict.ERRORED, cause, _said(run))


def _judge_artifacts(run: EndedRun) -> Judgement:
    try:
        metadata = read_metadata_of(run.token, run.directory)
        match metadata.outcome:
            case RunnerOutcome.RAN:
                return _judge_measurement(run)
            case RunnerOutcome.TIMED_OUT:
                return _out_of_time(run.test, metadata, metadata.reason)
            case RunnerOutcome.INTERRUPTED:
                return _errored(Cause.INFRASTRUCTURE, f"the run was interrupted: {metadata.reason}")
            case _:
                return _errored(Cause.TEST, metadata.reason or "the runner could not run the test")
    except MissingArtifact as error:
        return _errored(Cause.INFRASTRUCTURE, _why_nothing_came(run, str(error)))
    except (TornArtifact, WrongAttempt) as error:
        return _errored(Cause.INFRASTRUCTURE, str(error))


def _judge_measurement(run: EndedRun) -> Judgement:
    with open_artifacts(run.directory, run.token, run.scratch) as collector:
        if misplaced := _misplaced(run, collector.metadata):
            return _errored(Cause.INFRASTRUCTURE, misplaced)
        try:
            thresholds = run.limits or run.test.load_thresholds(run.resource_class)
        except (NoThresholds, BadThresholds) as error:
            return _errored(Cause.TEST, f"no calibrated threshold: {error}")
        return _judge_metrics(run, collector, thresholds)


def _judge_metrics(
    run: EndedRun, collector: ArtifactCollector, thresholds: ThresholdSet
) -> Judgement:
    try:
        measured = measure_and_evaluate(
            run.test, collector, thresholds, resolved_params=run.params.resolved()
        )
    except (ParseError, MissingArtifact, AmbiguousArtifact, NotMeasured) as error:
        return _errored(Cause.TEST, str(error))
    except WORKER_LIMITS:
        raise
    # The edge between a test's own code and a verdict: one broken parser must not stop a batch.
    except Exception as defect:
        what = f"{type(defect).__name__}: {defect}"
        return _errored(Cause.TEST, f"{run.test.slug} could not read its artifacts: {what}")
    verdict, cause = _VERDICTS[measured.evaluation.status]
    return Judgement(verdict, cause, measured.evaluation.reason, measured)


_VERDICTS = {
    EvaluationStatus.PASSED: (Verdict.PASSED, Cause.NONE),
    EvaluationStatus.FAILED: (Verdict.FAILED, Cause.HARDWARE),
    EvaluationStatus.ERRORED: (Verdict.ERRORED, Cause.TEST),
}


def _misplaced(run: EndedRun, metadata: HardwareTestMetadata) -> str:
    """Say what keeps these measurements from being those that were asked for."""
    if metadata.slug != run.test.slug:
        return f"the node ran {metadata.slug}, not {run.test.slug}"
    asked, given = run.params.resolved(), metadata.params
    if given is None:
        return "the node does not say with which params it ran"
    if given != asked:
        names = sorted(name for name in {*asked, *given} if asked.get(name) != given.get(name))
        return f"the node was given another {' and '.join(names)} than was asked for"
    ran = len(metadata.iterations)
    if run.iterations is not None and ran != run.iterations:
        return f"{run.iterations} iterations were asked for, but the node ran {ran}"
    # Slurm lists an allocation in an order of its own.
    if run.requested_nodes and sorted(metadata.node_names) != sorted(run.requested_nodes):
        return (
            f"{', '.join(run.requested_nodes)} was asked for, but the run was on "
            f"{', '.join(metadata.node_names) or 'no node'}: nothing is attributed to either"
        )
    return ""


def _judge_cancelled(run: EndedRun) -> Judgement:
    reason = run.cancel_reason or "cancelled with scancel, not by Fleet Manager"
    return Judgement(Verdict.SKIPPED, Cause.NONE, reason)


def _judge_time_out(run: EndedRun) -> Judgement:
    """Slurm ended it, so the runner did not end by itself in the time it keeps for that."""
    try:
        return _out_of_time(run.test, read_metadata_of(run.token, run.directory), _said(run))
    except WrongAttempt as error:
        return _errored(Cause.INFRASTRUCTURE, str(error))
    except (MissingArtifact, TornArtifact):
        pass
    if not (run.directory / contract.STARTED).is_file():
        return _errored(Cause.INFRASTRUCTURE, f"{_said(run)} before the runner had started")
    reason = f"{_said(run)}, and the runner could not end by itself: the node may hang"
    return Judgement(Verdict.INCONCLUSIVE, Cause.HARDWARE, reason)


def _out_of_time(test: BaseTest, metadata: HardwareTestMetadata, reason: str) -> Judgement:
    """Only a tool that reports while it works can be seen to have hung."""
    silent_s = metadata.finished_at - metadata.last_progress_at
    if test.silent_for_s is None:
        words = "it says nothing before its end, so the time limit may be too short, or it hung"
        return _errored(Cause.TEST, f"{reason}; {words}")
    if silent_s >= test.silent_for_s:
        hung = f"{reason}; nothing had moved for {silent_s:.0f} s: the test hung"
        return Judgement(Verdict.INCONCLUSIVE, Cause.HARDWARE, hung)
    return _errored(Cause.TEST, f"{reason}; it was still at work: the time limit is too short")


_RUNNER_SAID = {
    ExitCode.INTERNAL: "the runner has a defect",
    ExitCode.BAD_CONTEXT: "the runner could not read its context",
    ExitCode.ALREADY_CLAIMED: "another start of this attempt had claimed it",
    ExitCode.REQUEUED: "Slurm started this attempt a second time, so it was not run again",
    ExitCode.OLD_PYTHON: "the node's Python is too old for the runner",
    ExitCode.BAD_BUNDLE: "the runner on the node is not the one that was sent",
}


def _why_nothing_came(run: EndedRun, missing: str) -> str:
    code = (run.exit_code or "").partition(":")[0]
    said = _RUNNER_SAID.get(int(code)) if code.isdecimal() else None
    if said is None:
        return f"{missing} (the job {run.outcome.sentence}, exit code {run.exit_code or 'unknown'})"
    return f"{said} (exit code {code}); the node's words are in slurm.out"


def _said(run: EndedRun) -> str:
    return f"the job {run.outcome.sentence}"


def _errored(cause: Cause, reason: str) -> Judgement:
    return Judgement(Verdict.ERRORED, cause, reason)
